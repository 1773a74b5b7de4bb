"""Rule sets in shares and by Spark's workers, and matches of patterns as events: always what one session finds."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.patterns.catalog.loader import read_catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.jobs.recognise_request import RecogniseRequest
from foresail.pipeline.languages.recognise_job import run_languages
from foresail.pipeline.languages.tesla.evaluation import Share, by_column, evaluate_sets, rule_sets_of
from foresail.pipeline.languages.tesla.events import read_event_files
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.local.trying import EventSource
from foresail.pipeline.progress import Progress
from tests.patterns.tesla.cases import RULES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNKEYED = """Rule Next define Next(a: string) from Smoke(area=$a) and last Temp(area != $a) within 1 min from Smoke
  where a=$a"""


def _lines(folder: Path, count: int = 600) -> Path:
    """Readings of nine areas that rise and fall, and smoke now and then, several at one instant."""
    rows = [
        {"type": "Smoke", "time": n // 3, "area": f"A{n * 7 % 9}"}
        if n % 11 == 0
        else {"type": "Temp", "time": n // 3, "area": f"A{n * 5 % 9}", "value": 40 + n * 13 % 17}
        for n in range(count)
    ]
    file = folder / "events.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def _rules(folder: Path) -> Path:
    file = folder / "fires.tesla"
    file.write_text(f"{RULES['R2']}\n{RULES['R6']}\n{UNKEYED}\n".replace("Rule R2", "Rule R2b"))
    return file


def _found(rules: Path, events: Path, share: Share | None = None) -> list[str]:
    catalog, source = read_catalog([rules]), EventSource((str(events),), Named(), {})
    found = evaluate_sets(catalog, read_event_files(source, by_column(rule_sets_of(catalog))), source.named, share)
    return sorted(str(row) for row in found.table.to_pylist())


@pytest.mark.parametrize("tasks", [1, 3, 8])
def test_shares_by_key_together_find_what_one_session_finds(tasks: int, tmp_path: Path) -> None:
    rules, events = _rules(tmp_path), _lines(tmp_path)
    shares = [_found(rules, events, Share(task, tasks)) for task in range(tasks)]
    assert sorted(row for share in shares for row in share) == _found(rules, events)
    assert sum(bool(share) for share in shares) > tasks // 2


@pytest.mark.spark
def test_spark_writes_what_this_process_finds_and_says_what_runs_on_one_task(
    spark: "SparkSession", tmp_path: Path
) -> None:
    rules, events = _rules(tmp_path), _lines(tmp_path)
    said: list[str] = []

    class Heard(Progress):
        def say(self, text: str) -> None:
            said.append(text)

    def written(out: Path, session: "SparkSession | None") -> tuple[list[str], dict[str, Any]]:
        request = RecogniseRequest([str(events)], read_catalog([rules]), out, "jsonl")
        summary = run_languages(request, Heard(None), session)
        return sorted((out / "composites.jsonl").read_text().splitlines()), summary

    by_spark, told = written(tmp_path / "spark", spark)
    here, summary = written(tmp_path / "local", None)
    assert by_spark == here
    assert (told["engine"], told["composites_by_rule"]) == ("spark", summary["composites_by_rule"])
    assert any("Next run on one task: rule 'Next' has no parameter that all its predicates share" in s for s in said)


STOP = """language: tesla
name: stops
says: A stop soon after another vessel's.
rules: |
  Rule Both
  define Both(a: string, b: string)
  from Stop(track=$a) as S and last Stop(track != $a) as T within 1 h from S
  where a=$a, b=T.track
types: {Stop: match of halt}
"""
HALT = """name: halt
says: Fast, then at rest.
where: {fast: speed_kn > 5, rest: speed_kn < 1}
pattern: fast ; rest
"""


def _positions(folder: Path) -> Path:
    rows = [("a", 0, 9), ("a", 60, 0), ("b", 0, 9), ("b", 600, 0), ("c", 5000, 9), ("c", 5060, 8)]
    text = "".join(f"{t},2024-01-01T{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}Z,0,0,{v}\n" for t, s, v in rows)
    file = folder / "positions.csv"
    file.write_text(f"track,time,lon,lat,speed_kn\n{text}")
    return file


def test_matches_of_patterns_are_events_of_rules(tmp_path: Path) -> None:
    (tmp_path / "stops.yaml").write_text(STOP)
    (tmp_path / "halt.yaml").write_text(HALT)
    source = EventSource((str(_positions(tmp_path)),), Named(), {})
    catalog = read_catalog([tmp_path / "stops.yaml", tmp_path / "halt.yaml"])
    tables = read_event_files(source, by_column(rule_sets_of(catalog)))
    (row,) = evaluate_sets(catalog, tables, source.named).table.to_pylist()
    assert row["attributes"] == {"a": "b", "b": "a"}
    alone = read_catalog([tmp_path / "stops.yaml"])
    with pytest.raises(InputError, match=r"stops.yaml:9:.*there is no pattern 'halt'.*give its file"):
        evaluate_sets(alone, tables, source.named)
