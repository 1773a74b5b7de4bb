"""Long tracks are told from samples of the files, and cut into slices of about the same number of events."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foresail.pipeline.batch.parquet_source import ParquetSource, parquet_source
from foresail.pipeline.batch.skewed_tracks import SAMPLED_GROUPS, SLICES_PER_WORKER, long_tracks

SECOND = 1_000_000
MICROS = pa.timestamp("us", tz="UTC")


def source_of(folder: Path, tracks: dict[str, int], group_rows: int = 10_000) -> ParquetSource:
    """Tracks of so many events, one a second from 0, spread over the row groups of one file."""
    names = np.concatenate([np.full(events, name, dtype=object) for name, events in tracks.items()])
    seconds = np.concatenate([np.arange(events) for events in tracks.values()])
    order = np.argsort(seconds, kind="stable")
    columns = {
        "track": pa.array(names[order], pa.string()),
        "time": pa.array(seconds[order] * SECOND).cast(MICROS),
        "offset": pa.array(np.arange(len(order))),
    }
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / "events.parquet", row_group_size=group_rows)
    found = parquet_source([str(folder)], ())
    assert isinstance(found, ParquetSource)
    return found


def test_a_track_with_more_than_half_a_worker_s_share_is_cut_and_a_shorter_one_is_not(tmp_path: Path) -> None:
    source = source_of(tmp_path, {"long": 600, "half": 250, "short": 150})
    assert set(long_tracks(source, buckets=2, least=1)) == {"long", "half"}
    assert set(long_tracks(source, buckets=2, least=251)) == {"long"}
    assert long_tracks(source, buckets=2, least=601) == {}


def test_a_track_is_cut_into_two_slices_for_each_worker_of_the_same_length(tmp_path: Path) -> None:
    source = source_of(tmp_path, {"long": 800, "other": 200})
    for buckets in (2, 4):
        cuts = long_tracks(source, buckets, least=500)["long"]
        slices = SLICES_PER_WORKER * buckets
        assert len(cuts) == slices - 1
        lengths = np.diff([0, *cuts, 800 * SECOND]) / SECOND
        assert lengths == pytest.approx(np.full(slices, 800 / slices), abs=1)


def test_one_worker_cuts_nothing(tmp_path: Path) -> None:
    assert long_tracks(source_of(tmp_path, {"long": 800}), buckets=1, least=1) == {}


def test_only_some_row_groups_are_looked_at_and_each_stands_for_the_others(tmp_path: Path) -> None:
    """Two row groups for each that is looked at: a track is known to be as long as it is, though half is not read."""
    rows = 10
    source = source_of(tmp_path, {"long": 2 * SAMPLED_GROUPS * rows}, group_rows=rows)
    total = 2 * SAMPLED_GROUPS * rows
    cuts = long_tracks(source, buckets=2, least=total)["long"]
    assert np.array(cuts) / SECOND == pytest.approx(total * np.array([0.25, 0.5, 0.75]), abs=2 * rows)
    assert long_tracks(source, buckets=2, least=total + 1) == {}
