"""Settings come from file, environment and options, in that order, and every mistake is named."""

from pathlib import Path

import pytest

from foresail.pipeline.errors import SettingsError
from foresail.pipeline.settings import Settings, known_keys, read_settings
from tests import hostile_yaml


def settings_file(folder: Path, text: str) -> Path:
    file = folder / "settings.yaml"
    file.write_text(text)
    return file


def test_defaults_need_nothing() -> None:
    assert read_settings(environment={}).spark.master == "local[2]"


def test_the_file_is_stronger_than_the_default(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "spark: {master: 'local[3]'}")
    assert read_settings(file, environment={}).spark.master == "local[3]"


def test_the_environment_is_stronger_than_the_file(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "spark: {master: 'local[3]', driver_memory: 1g}")
    read = read_settings(file, environment={"FORESAIL_SPARK__MASTER": "local[4]"})
    assert (read.spark.master, read.spark.driver_memory) == ("local[4]", "1g")


def test_an_option_is_stronger_than_the_environment(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "spark: {master: 'local[3]'}")
    environment = {"FORESAIL_SPARK__MASTER": "local[4]"}
    assert read_settings(file, environment, {"spark.master": "local[5]"}).spark.master == "local[5]"


def test_an_option_that_was_not_given_changes_nothing() -> None:
    assert read_settings(environment={"FORESAIL_KAFKA__PORT": "9"}, options={"kafka.port": None}).kafka.port == 9


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "kafka: {port: 7}")
    assert read_settings(environment={"FORESAIL_SETTINGS": str(file)}).kafka.port == 7


def test_numbers_and_booleans_are_taken_for_sparks_text() -> None:
    conf = read_settings(environment={"FORESAIL_SPARK__CONF": "{spark.a: 4, spark.b: true, spark.c: x}"}).spark.conf
    assert conf == {"spark.a": "4", "spark.b": "true", "spark.c": "x"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("spark: {mastr: x}", "spark.master"),
        ("kafka: {bootstrap_server: x}", "kafka.bootstrap_servers"),
        ("jars: {dir: x}", "jars.directory"),
        ("driver_memory: 2g", "spark.driver_memory"),
    ],
)
def test_an_unknown_key_names_the_nearest_right_one(tmp_path: Path, text: str, meant: str) -> None:
    with pytest.raises(SettingsError, match=f"unknown key .* Did you mean '{meant}'"):
        read_settings(settings_file(tmp_path, text), environment={})


def test_an_unknown_key_near_to_none_lists_them_all(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"unknown key 'zzz'. Known keys: .*spark\.master, .*kafka\.directory"):
        read_settings(settings_file(tmp_path, "zzz: 1"), environment={})


def test_a_wrong_type_names_key_and_value(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"settings\.yaml: kafka\.port: .*integer.*got 'many'"):
        read_settings(settings_file(tmp_path, "kafka: {port: many}"), environment={})


def test_a_number_out_of_range_names_the_limit() -> None:
    with pytest.raises(SettingsError, match=r"FORESAIL_KAFKA__PORT: kafka\.port: .*65535, got 70000"):
        read_settings(environment={"FORESAIL_KAFKA__PORT": "70000"})


def test_every_fault_is_told_with_where_it_was_set(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "spark: {mastr: x, ui: perhaps}")
    with pytest.raises(SettingsError) as caught:
        read_settings(file, environment={"FORESAIL_KAFKA__PORT": "0"})
    message = str(caught.value)
    assert f"{file}: unknown key 'spark.mastr'" in message
    assert f"{file}: spark.ui: " in message
    assert "FORESAIL_KAFKA__PORT: kafka.port: " in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("spark: [", r"settings\.yaml:\d+:\d+: bad YAML"),
        ("- a\n- b", "holds a list, not keys"),
        ("spark: 3", "spark: .*got 3"),
    ],
)
def test_a_file_that_is_no_settings_file_says_so(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        read_settings(settings_file(tmp_path, text), environment={})


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert read_settings(settings_file(tmp_path, ""), environment={}) == read_settings(environment={})


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path / "none.yaml", environment={})


def test_a_variable_that_is_not_yaml_says_so() -> None:
    with pytest.raises(SettingsError, match=r"FORESAIL_SPARK__MASTER.*quotes"):
        read_settings(environment={"FORESAIL_SPARK__MASTER": "[local"})


def test_a_variable_cannot_step_into_a_value() -> None:
    with pytest.raises(SettingsError, match="'spark' is a value, not a section"):
        read_settings(environment={"FORESAIL_SPARK": "3", "FORESAIL_SPARK__MASTER": "local"})


def test_a_variable_cannot_step_into_a_value_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^FORESAIL_SPARK__MASTER: 'spark' is a value, not a section"):
        read_settings(settings_file(tmp_path, "spark: 3"), environment={"FORESAIL_SPARK__MASTER": "local"})


def test_settings_that_are_made_and_not_read_look_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESAIL_SPARK__MASTER", "local[7]")
    assert Settings().spark.master == "local[2]"


def test_every_key_is_described() -> None:
    assert [key for key, description in known_keys().items() if not description] == []


@hostile_yaml.every_bomb
def test_hostile_settings_are_refused_at_once(tmp_path: Path, bomb: str) -> None:
    hostile_yaml.refuses(lambda file: read_settings(file, environment={}), SettingsError, tmp_path, bomb)


def test_a_section_written_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "spark: {master: local}\nkafka: {port: 1}\nspark: {ui: true}\n")
    with pytest.raises(SettingsError, match=r"settings\.yaml:3:1: 'spark' is written twice, first on line 1\."):
        read_settings(file, environment={})


def test_a_variable_that_is_a_bomb_is_refused_in_one_line() -> None:
    with pytest.raises(SettingsError, match=r"^FORESAIL_SPARK__MASTER: .* is not a YAML value") as caught:
        read_settings(environment={"FORESAIL_SPARK__MASTER": "[" * 100_000})
    assert len(str(caught.value)) < 300
