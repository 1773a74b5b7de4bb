"""Counting for scheduled training on Spark: by day, into a folder or through Hadoop, and what follows without Spark."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from foresail.models.store import ModelStore
from foresail.pipeline.cli.models import command
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import TrainingSettings
from tests.pipeline.jobs.test_forecasting import ENTRY, request, write_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.soak]
TRAINING = TrainingSettings(held_out_share=0.5)


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


@pytest.fixture(scope="module")
def counted(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Two days of events and one without, counted day by day through Hadoop's `file:`."""
    from foresail.pipeline.jobs.count_interval import count_each_day

    folder = tmp_path_factory.mktemp("counted")
    events = write_events(folder / "events", events=288, step_s=600)
    asked = replace(request(events, folder, ENTRY), models=f"file://{folder}/models", since=at(2), until=at(5))
    return folder, count_each_day(spark, asked, TRAINING, SILENT)


def told(folder: Path, *words: str) -> dict[str, Any]:
    (folder / "entry.yaml").write_text(ENTRY, encoding="utf-8")
    place = ("--patterns", str(folder / "entry.yaml"), "--models", str(folder / "models"))
    done = CliRunner().invoke(command, [*words, *place, "--json"], catch_exceptions=False)
    return dict(json.loads(done.output.splitlines()[-1]))


def test_every_day_is_an_interval_of_its_own_and_one_without_events_is_no_fault(
    counted: tuple[Path, dict[str, Any]],
) -> None:
    folder, summary = counted
    assert [len(row["patterns"]) for row in summary["intervals"]] == [1, 1, 0]
    assert [str(i) for i in ModelStore(folder / "models").counted("entry")] == [
        "20260302T000000Z-20260303T000000Z",
        "20260303T000000Z-20260304T000000Z",
    ]


def test_the_first_and_the_last_day_go_as_far_as_asked() -> None:
    from foresail.pipeline.jobs.count_interval import days_between

    assert list(days_between(at(2, 6), at(4, 1))) == [(at(2, 6), at(3)), (at(3), at(4)), (at(4), at(4, 1))]


def test_counting_needs_to_know_from_when_until_when(spark: "SparkSession", tmp_path: Path) -> None:
    from foresail.pipeline.jobs.count_interval import count_each_day

    with pytest.raises(InputError, match="Give --from and --to"):
        count_each_day(spark, request("events", tmp_path, ENTRY), TRAINING, SILENT)


def test_days_are_merged_and_nothing_is_learned_where_nothing_came(counted: tuple[Path, dict[str, Any]]) -> None:
    folder, summary = counted
    (row,) = told(folder, "merge", "--from", "2026-03-03", "--to", "2026-03-04")["merged"]
    assert row["events"] == sum(day["patterns"][0]["events"] for day in summary["intervals"][:2])
    assert told(folder, "merge", "--from", "2026-03-04", "--to", "2026-03-05")["patterns"] == []


def test_a_round_is_learned_judged_and_watched_without_spark(counted: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = counted
    told(folder, "merge", "--to", "2026-03-03")
    until = ("--to", "2026-03-03")
    first = told(folder, "learn", "entry", "--budget", "2", *until)
    assert (first["alias"], first["trials"]) == ("challenger", 2)
    assert told(folder, "learn", "entry", "--budget", "2", *until)["model_version"] == first["model_version"]
    scores = told(folder, "evaluate", "entry", *until)["scores"]
    assert scores["challenger"]["version"] == first["model_version"]
    ModelStore(folder / "models").promote("entry")
    (row,) = told(folder, "live", "--to", "2026-03-04")["patterns"]
    assert row["champion"] == first["model_version"]
    assert "on 20260303T000000Z-20260304T000000Z" in row["why"]
