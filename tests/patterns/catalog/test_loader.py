import pickle
from pathlib import Path

import pytest

from foresail.patterns.catalog.loader import Catalog, built_in_catalog, read_catalog, read_text
from foresail.patterns.catalog.nodes import CatalogError
from foresail.patterns.catalog.pages import catalog_pages
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import PatternError
from tests import hostile_yaml

ENTRY = """\
name: slow_down
domain: maritime
says: A fast vessel becomes slow.
parameters: {limit_kn: 5}
where:
  fast: speed_kn > limit_kn
  slow: speed_kn <= limit_kn
pattern: fast ; slow
"""


def fault(text: str) -> str:
    with pytest.raises(CatalogError) as caught:
        read_text(text, "a.yaml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_holds_one_entry_or_a_list() -> None:
    listed = "patterns:\n" + "".join(
        f"  {'- ' if n == 0 else '  '}{line}\n" for n, line in enumerate(ENTRY.splitlines())
    )
    assert read_text(ENTRY, "a.yaml")[0].name == "slow_down"
    assert read_text(listed, "a.yaml")[0].where == read_text(ENTRY, "a.yaml")[0].where


def test_an_entry_need_not_name_a_domain() -> None:
    (entry,) = read_text(ENTRY.replace("domain: maritime\n", ""), "a.yaml")
    assert entry.domain is None
    assert "- domain: any" in catalog_pages(Catalog((entry,)))["slow_down.md"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("where:", "wher:", "a.yaml:5:1: unknown key 'wher'. Did you mean 'where'?"),
        ("domain: maritime", "domain: marine", "a.yaml:2:9: domain cannot be 'marine'. Did you mean 'maritime'?"),
        ("says: A fast", "version: 1.5 #", "a.yaml:3:10: version must be a whole number, not '1.5'."),
        ("pattern: fast ; slow\n", "", "a.yaml:1:1: the key 'pattern' is missing."),
        ("  fast:", "  any:", "a.yaml:6:3: 'any' is a word of the language"),
        ("  slow: speed", "  2slow: speed", "a.yaml:7:3: '2slow' cannot be the name of a condition."),
        ("slow: speed_kn <= limit_kn", "slow: 3", "a.yaml:7:9: where.slow must be a text, not '3'."),
        ("  slow: speed", "  fast: speed", "a.yaml:7:3: 'fast' is written twice, first on line 6."),
        ("{limit_kn: 5}", "{fast: 5}", "a.yaml:6:9: where.fast: 'fast' is also one of the parameters."),
        (
            "{limit_kn: 5}",
            "{limit_kn: [5]}",
            "a.yaml:4:24: parameters.limit_kn must be a number, a text, true or false",
        ),
        (
            "says: A fast",
            "says: Note: a fast",
            "a.yaml:3:11: bad YAML, mapping values are not allowed here. Put a text",
        ),
        ("  fast:", "\tfast:", "a.yaml:6:1: bad YAML"),
        ("name: slow_down", "name: [slow_down", "bad YAML"),
    ],
)
def test_a_fault_names_the_place_what_is_wrong_and_the_nearest_right_word(old: str, new: str, said: str) -> None:
    assert old in ENTRY
    assert said in fault(ENTRY.replace(old, new))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("window: 2hrs", "a.yaml:9:9: window: '2hrs': unknown unit 'hrs'. Did you mean '2h'?"),
        ("window: 0s", "a.yaml:9:9: window: '0s' is no time at all."),
        ("window: 30", "a.yaml:9:9: window: 30 has no unit."),
        ("alert: {severty: info}", "a.yaml:9:9: unknown key 'severty'. Did you mean 'severity'?"),
        ("exclusive: [[fast, slw]]", "a.yaml:9:12: exclusive: unknown condition 'slw'. Did you mean 'slow'?"),
        ("min_dwell: 3min", "a.yaml:9:12: min_dwell: only episodes have a dwell."),
        ("report: episodes\noutput: count", "a.yaml:9:9: report: episodes go with output: detect, not count."),
        ("forecast: {horizon: 5, within: 9}", "a.yaml:9:32: forecast.within: 9 events lie beyond the horizon of 5."),
        ("forecast: {threshold: 1.5}", "a.yaml:9:23: forecast.threshold: 1.5 is not a probability."),
        ("limit: 0", "a.yaml:9:8: limit:"),
        ("for_each: {layer: ports}", "a.yaml:9:11: the key 'as' is missing."),
    ],
)
def test_a_fault_in_a_further_key_is_told_the_same_way(line: str, said: str) -> None:
    assert said in fault(ENTRY + line + "\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.yaml:1:1: the file is empty"),
        ("# nothing yet\n", "a.yaml:1:1: the file is empty"),
        ("- name: a\n", "a.yaml:1:1: a catalog file holds one pattern, or a list under 'patterns:'."),
        ("patterns: 3\n", "a.yaml:1:11: 'patterns:' holds no list."),
        ("patterns:\n  - 3\n", "a.yaml:2:5: not a pattern."),
        ("patterns:\n  - {}\nname: a\n", "a.yaml:3:1: 'name' stands beside 'patterns:'."),
        ("a: &x 1\nb: *y\n", "a.yaml:2:4: bad YAML"),
        ("a: &x [*x]\n", "a.yaml:1:8: the value holds itself."),
        ("1: a\n", "a.yaml:1:1: '1' is not a name."),
        ("where: {true: a}\n", "a.yaml:1:9: 'true' is not a name."),
        ("? [a, b]\n: 3\n", "a.yaml:1:3: a list is not a name."),
        ("name: a\x00\n", "a.yaml:1:1: not a YAML file"),
        ("name: a\n---\nname: b\n", "a.yaml:2:1: bad YAML, but found another document. Write one document"),
    ],
)
def test_a_file_without_patterns_is_told_apart(text: str, said: str) -> None:
    assert said in fault(text)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("pattern: fast ; ; slow", "a.yaml:8:17"),
        ("pattern: 'fast ; ; slow'", "a.yaml:8:18"),
        ("pattern: |\n  fast ;\n  ; slow", "a.yaml:10:3"),
        ("pattern: >-\n    fast\n      ; ; slow", "a.yaml:10:9"),
        ("pattern: fast ;\n  ; slow", "a.yaml:9:3"),
    ],
)
def test_a_syntax_error_in_a_pattern_points_into_the_file(pattern: str, place: str) -> None:
    (entry,) = read_text(ENTRY.replace("pattern: fast ; slow", pattern), "a.yaml")
    with pytest.raises(PatternError) as caught:
        compile_pattern(entry.spec())
    assert str(caught.value).startswith(f"{place}: ")


def test_a_syntax_error_in_a_condition_points_into_the_file() -> None:
    (entry,) = read_text(ENTRY.replace("slow: speed_kn <= limit_kn", "slow: speed_kn <=< 3"), "a.yaml")
    with pytest.raises(PatternError) as caught:
        compile_pattern(entry.spec())
    assert str(caught.value).startswith("a.yaml:7:20: ")


def test_off_and_no_are_words_as_in_yaml_1_2() -> None:
    text = ENTRY.replace("fast", "off").replace("{limit_kn: 5}", "{limit_kn: 1e1, word: no}")
    (entry,) = read_text(text, "a.yaml")
    assert list(entry.where) == ["off", "slow"]
    assert entry.parameters == {"limit_kn": 10.0, "word": "no"}


def test_two_patterns_of_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ENTRY, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yml").write_text("# a copy\n" + ENTRY, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        read_catalog([tmp_path])
    copy = tmp_path / "sub" / "b.yml"
    assert str(caught.value).startswith(f"{copy}:2:1: there is a pattern 'slow_down' already, at ")
    assert f"{tmp_path / 'a.yaml'}:1:1" in str(caught.value)


def test_a_path_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(ENTRY, encoding="utf-8")
    with pytest.raises(CatalogError, match=r"no such file or folder. Did you mean 'slow.yaml'\?"):
        read_catalog([tmp_path / "slw.yaml"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(CatalogError, match="holds no catalog file"):
        read_catalog([tmp_path / "empty"])
    (tmp_path / "bytes.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(CatalogError, match="not UTF-8"):
        read_catalog([tmp_path / "bytes.yaml"])


def test_the_built_in_catalog_is_found_by_domain_and_by_name() -> None:
    maritime, fleet = built_in_catalog("maritime"), built_in_catalog("fleet")
    assert len(maritime) + len(fleet) == len(built_in_catalog())
    assert {entry.domain for entry in fleet} == {"fleet"}
    assert maritime["trawling"].name == "trawling"
    with pytest.raises(CatalogError, match=r"unknown pattern 'trawlin'. Did you mean 'trawling'\?"):
        maritime["trawlin"]
    with pytest.raises(CatalogError, match=r"unknown domain 'fleets'. Did you mean 'fleet'\?"):
        built_in_catalog("fleets")


def test_a_spec_holds_what_the_entry_says() -> None:
    spec = built_in_catalog()["port_entry"].spec()
    assert (spec.name, spec.version, spec.family) == ("port_entry", 1, "port")
    assert spec.window_us == 7_200_000_000
    assert spec.max_gap_us == 1_800_000_000
    assert [text.name for text in spec.where] == ["outside", "inside"]
    assert spec.where[1].text == "port.distance_m < port_m"
    assert spec.where[1].place.line == 11
    assert built_in_catalog()["trawling_rtec"].spec().min_dwell_us == 3_600_000_000


def test_an_entry_travels_to_another_process_with_its_places() -> None:
    entry = built_in_catalog()["port_visit"]
    again = pickle.loads(pickle.dumps(entry))
    assert again.spec() == entry.spec()


@hostile_yaml.every_bomb
def test_a_hostile_catalog_is_refused_at_once(tmp_path: Path, bomb: str) -> None:
    hostile_yaml.refuses(lambda file: read_catalog([file]), CatalogError, tmp_path, bomb)
