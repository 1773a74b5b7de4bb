"""Which patterns a live line looks for: those of pairs only where pairs are made."""

from pathlib import Path

import pytest

from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.catalogs import catalog_named
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stream.query.plan import Compiled, KnownTypes, compile_line

NUMBER, TEXT = AttributeType.NUMBER, AttributeType.STRING
POSITIONS = dict.fromkeys(("lon", "lat", "speed_kn", "distance_m", "drift_deg", "gap_s"), NUMBER)
PAIRS = {
    **dict.fromkeys(("lon", "lat", "distance_m", "speed_kn_a", "speed_kn_b", "course_deg_a"), NUMBER),
    "vessel_type_a": TEXT,
    "vessel_type_b": TEXT,
}
CATALOG = """\
patterns:
- {name: stays, version: 1, domain: maritime, says: Lies still., where: {slow: speed_kn < 1}, pattern: "slow{3,}"}
"""


def compiled(known: KnownTypes, patterns: tuple[str, ...] = (), **more: object) -> Compiled:
    stream = StreamSettings.model_validate({"patterns": patterns, **more})
    return compile_line(catalog_named(patterns, "maritime", {}), known, {}, stream)


@pytest.fixture
def stays(tmp_path: Path) -> str:
    (tmp_path / "patterns.yaml").write_text(CATALOG, encoding="utf-8")
    return str(tmp_path / "patterns.yaml")


def test_a_pattern_of_pairs_that_is_named_asks_for_the_setting(stays: str) -> None:
    with pytest.raises(InputError, match=r"tugging: reads pairs of tracks.* Set stream\.pairs_within_m"):
        compiled({"positions": POSITIONS}, (stays, "tugging"))


def test_in_a_whole_domain_patterns_of_pairs_are_left_out_with_the_way_out() -> None:
    line = compiled({"positions": POSITIONS})
    assert line.pairs is None
    assert "stream.pairs_within_m" in line.skipped["tugging"]


def test_patterns_of_pairs_that_do_not_fit_are_left_out_like_any_others() -> None:
    line = compiled({"positions": POSITIONS, "pairs": PAIRS})
    assert line.pairs is not None
    assert list(line.pairs.entries) == ["left_together", "tugging"]
    assert "port_distance_m" in line.skipped["rendezvous"]


def test_positions_and_pairs_have_lines_of_their_own_that_know_of_each_other(stays: str) -> None:
    line = compiled({"positions": POSITIONS, "pairs": PAIRS}, (stays, "tugging"), attributes=["course_deg_a"])
    assert line.pairs is not None
    assert [p.name for p in line.positions.spec.patterns] == ["stays"]
    assert [p.name for p in line.pairs.spec.patterns] == ["tugging"]
    assert "speed_kn_a" not in line.positions.attributes
    assert {"speed_kn_a", "vessel_type_b", "course_deg_a"} <= set(line.pairs.attributes)
    assert (line.positions.spec.elsewhere, line.pairs.spec.elsewhere) == (("pairs",), ("positions",))
    assert line.positions.spec.name != line.pairs.spec.name


def test_patterns_of_pairs_may_stand_alone() -> None:
    line = compiled({"positions": POSITIONS, "pairs": PAIRS}, ("tugging",))
    assert line.positions.spec.patterns == ()
    assert [len(spec.patterns) for spec in line.specs] == [0, 1]


def test_a_line_that_makes_pairs_for_nobody_does_not_make_them(stays: str) -> None:
    assert compiled({"positions": POSITIONS, "pairs": PAIRS}, (stays,)).pairs is None
