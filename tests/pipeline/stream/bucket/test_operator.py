"""Buckets of positions and of pairs side by side: they answer control messages alike, and take their own patterns."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.control.configure import keep_catalog
from tests.pipeline.stream import lines

STAYS, STARTS, SWINGS = lines.some_patterns()
CATALOG = """\
patterns:
- name: stays
  version: 2
  domain: maritime
  says: A vessel lies still.
  where: {slow: x < 1}
  pattern: slow{2,}
- name: meets
  version: 1
  domain: maritime
  says: Two vessels lie still.
  reads: pairs
  where: {slow: x < 1}
  pattern: slow{2,}
"""


@pytest.fixture
def specs(tmp_path: Path) -> tuple[LineSpec, LineSpec]:
    """A line of positions and one of pairs, as they stand in one query."""
    types = {"x": AttributeType.NUMBER}
    both = [
        replace(lines.spec_for(patterns, f"{tmp_path}{n}"), types=types, models=tmp_path)
        for n, patterns in enumerate([(STAYS, SWINGS), (STARTS,)])
    ]
    return replace(both[0], elsewhere=("pairs",)), replace(both[1], reads="pairs", elsewhere=("positions",))


def answers(specs: tuple[LineSpec, ...], message: dict[str, Any]) -> tuple[list[lines.Running], list[dict[str, Any]]]:
    """The buckets after a message, one of each line, and their replies."""
    buckets = [lines.Running(spec, specs=specs) for spec in specs]
    for bucket in buckets:
        bucket.read(lines.NOTHING, control=[json.dumps({"id": "1", **message})])
    return buckets, [json.loads(row["payload"]) for bucket in buckets for row in bucket.rows("ack")]


@pytest.mark.parametrize("pattern", ["stays", "starts"])
def test_a_pattern_of_either_line_is_known_to_the_buckets_of_both(specs: tuple[LineSpec, ...], pattern: str) -> None:
    _, replies = answers(specs, {"pattern": pattern, "enabled": False})
    assert [reply["accepted"] for reply in replies] == [True, True]
    assert replies[0] == replies[1]
    assert replies[0]["configuration"]["disabled"] == [pattern]


def test_what_neither_line_has_is_refused_alike_and_the_patterns_of_both_are_named(
    specs: tuple[LineSpec, ...],
) -> None:
    _, replies = answers(specs, {"pattern": "sings", "enabled": False})
    assert replies[0] == replies[1]
    assert replies[0]["reason"].endswith("There are: stays, swings, starts")


def test_what_one_line_cannot_take_up_the_other_refuses_too(specs: tuple[LineSpec, ...], tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    file.write_text(
        CATALOG.replace("reads: pairs\n  where: {slow: x", "reads: pairs\n  where: {slow: y"), encoding="utf-8"
    )
    _, replies = answers(specs, {"catalog": keep_catalog(tmp_path, (file,))})
    assert replies[0] == replies[1]
    assert not replies[0]["accepted"]
    assert "y" in replies[0]["reason"]


def test_each_line_takes_its_own_patterns_of_a_new_catalog(specs: tuple[LineSpec, ...], tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"
    file.write_text(CATALOG, encoding="utf-8")
    buckets, replies = answers(specs, {"catalog": keep_catalog(tmp_path, (file,))})
    assert [reply["accepted"] for reply in replies] == [True, True]
    names = [[p.name for p in running.bucket.monitor.patterns] for running in buckets if running.bucket is not None]
    assert names == [["stays"], ["meets"]]


def test_a_line_without_pairs_refuses_a_pattern_that_reads_them_and_says_what_to_set(
    specs: tuple[LineSpec, ...], tmp_path: Path
) -> None:
    file = tmp_path / "new.yaml"
    file.write_text(CATALOG, encoding="utf-8")
    alone = replace(specs[0], elsewhere=())
    _, (reply,) = answers((alone,), {"catalog": keep_catalog(tmp_path, (file,))})
    assert not reply["accepted"]
    assert "meets: reads pairs of tracks" in reply["reason"]
    assert "stream.pairs_within_m" in reply["reason"]


def test_events_of_pairs_are_counted_as_pairs(specs: tuple[LineSpec, ...]) -> None:
    counted = []
    for spec in specs:
        running = lines.Running(spec, specs=specs)
        running.read(lines.some_events(1, tracks=3, events=40))
        stats = json.loads(running.rows("stats")[0]["payload"])
        counted.append((stats["events"], stats["pairs"], stats["tracks"] > 0))
    assert counted == [(40, 0, True), (0, 40, False)]


def test_a_bucket_without_patterns_counts_its_events_and_tells_nothing_else() -> None:
    running = lines.Running(LineSpec("none", (), ()))
    for part in (lines.some_events(1), lines.NOTHING):
        running.read(part, now_us=5_000_000, control=['{"id": "1", "flush": true}'])
    assert {row["kind"] for table in running.told for row in table.to_pylist()} == {"stats", "ack"}
    assert json.loads(running.rows("stats")[0]["payload"])["events"] == 900
