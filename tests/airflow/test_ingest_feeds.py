"""The schedule before training in the real Airflow: hours are ingested, in any order and more than once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.runtime.local_airflow import split_by_hour

if TYPE_CHECKING:
    from tests.airflow.conftest import Ended, Runs

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, feed: Path) -> Path:
    """Two hours of the feed as files named after them."""
    from datetime import UTC, datetime

    folder = tmp_path_factory.mktemp("hours")
    split_by_hour(feed / "events", folder / "history", folder / "all", datetime(2026, 3, 2, tzinfo=UTC))
    (folder / "feed").mkdir()
    for hour in ("2026-03-02T05", "2026-03-02T06"):
        (folder / "all" / f"{hour}.parquet").rename(folder / "feed" / f"{hour}.parquet")
    return folder


@pytest.fixture(scope="module")
def ended(run_days: "Runs", folder: Path) -> "Ended":
    """The later hour first, then the earlier one, the later one again, and one without a file."""

    def hour(until: str) -> dict[str, Any]:
        conf = {"input": str(folder / "feed"), "events": str(folder / "events"), "domain": "fleet"}
        return {"dag": "ingest_feeds", "until": f"2026-03-02T{until}:00:00", "conf": conf}

    return run_days(*map(hour, ("07", "06", "07", "11")))


def test_hours_are_filled_in_any_order_and_a_finished_one_changes_nothing(ended: "Ended", folder: Path) -> None:
    assert [run["tasks"]["ingest[-1]"] for run in ended.runs] == ["success", "success", "skipped", "skipped"]
    assert {run["state"] for run in ended.runs} == {"success"}
    assert "nothing came; nothing is changed" in ended.log
    events = ds.dataset(folder / "events" / "events").to_table(columns=["track", "time", "gap_s"])
    given = [pq.read_metadata(file).num_rows for file in sorted((folder / "feed").iterdir())]
    assert events.num_rows == sum(given)
    first = events.filter(pc.is_null(events.column("gap_s")))
    assert first.num_rows == len(pc.unique(events.column("track"))), "an hour goes on where the one before ended"


def test_an_update_of_the_events_says_which_hour_came(ended: "Ended", folder: Path) -> None:
    later, earlier = ended.runs[3]["updates"]
    assert (later["from"], later["to"]) == ("2026-03-02T06:00:00+00:00", "2026-03-02T07:00:00+00:00")
    assert earlier["from"] == "2026-03-02T05:00:00+00:00"
    assert later["rows"] == pq.read_metadata(folder / "feed" / "2026-03-02T06.parquet").num_rows
