from pathlib import Path

import pytest

import foresail as fs
from foresail.pipeline.api.patterns import as_catalog


def test_a_pattern_from_code_is_an_entry_of_a_catalog() -> None:
    stop = fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"}, window="2h", report="episodes")
    assert isinstance(stop, fs.Pattern)
    assert (stop.name, stop.window, stop.report) == ("stop", "2h", "episodes")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window": "2 hours long"}, r"^stop\.window:1:1: window: .*2 hours long"),
        ({"wndow": "2h"}, r"unknown key 'wndow'. Did you mean 'window'\?"),
        ({"report": "episode"}, r"^stop\.report:1:1: report cannot be 'episode'. Did you mean 'episodes'\?"),
        ({"pattern": "slow{3,"}, r"^stop\.pattern:1:8: "),
        ({"pattern": "slwo"}, r"unknown condition 'slwo'. Did you mean 'slow'\?"),
        ({"where": {"slow": "speed_kn <"}}, r"^stop\.where\.slow:1:"),
        ({"where": {"any": "speed_kn < 1"}}, "'any' is a word of the language"),
        ({"name": "2fast"}, "'2fast' cannot be the name of a pattern"),
    ],
)
def test_faults_name_the_place_the_fault_and_the_way_out(change: dict[str, object], said: str) -> None:
    held = {"name": "stop", "pattern": "slow{3,}", "where": {"slow": "speed_kn < 1"}}
    with pytest.raises(fs.PatternError, match=said):
        fs.pattern(**(held | change))  # type: ignore[arg-type]


def test_patterns_may_be_named_in_many_ways(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nsays: Slow.\npattern: '[speed_kn < 1]'\n", encoding="utf-8")
    stop = fs.pattern("stop", "[speed_kn < 1]")
    assert as_catalog(stop).names == ("stop",)
    assert as_catalog([stop, str(file), "loitering"]).names == ("stop", "mine", "loitering")
    assert as_catalog(fs.read_patterns(file)).names == ("mine",)
    assert set(as_catalog("fleet").names) == set(fs.catalog("fleet").names)
    assert fs.catalog("maritime")["loitering"].domain == "maritime"


def test_parameters_of_built_in_patterns_are_set_by_name() -> None:
    (name, value), *_ = fs.catalog("maritime")["loitering"].parameters.items()
    changed = fs.catalog("maritime", **{f"loitering__{name}": value * 2})["loitering"]
    assert changed.parameters[name] == value * 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("loitring", "no built-in pattern and no file. Did you mean 'loitering'"),
        ([], "there are none"),
        (3, "a int is no pattern"),
        ({"name": "x"}, "a mapping is no pattern"),
        ("nowhere/mine.yaml", "no such file"),
    ],
)
def test_what_is_no_pattern_is_told(given: object, said: str) -> None:
    with pytest.raises(fs.CatalogError, match=said):
        as_catalog(given)  # type: ignore[arg-type]


def test_two_patterns_of_one_name_are_refused() -> None:
    with pytest.raises(fs.CatalogError, match="two called 'stop'"):
        as_catalog([fs.pattern("stop", "[x < 1]"), fs.pattern("stop", "[x < 2]")])
