import json

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_type

from foresail.pipeline.stages.derive import REMEMBERED
from foresail.pipeline.stages.track_memory import empty_memory
from foresail.pipeline.stream.bucket.input_rows import AGAIN, CONTROL, EVENT, LATE, TICK
from foresail.pipeline.stream.bucket.operator import fitted
from foresail.pipeline.stream.bucket.reordering import Reordering
from foresail.pipeline.stream.bucket.rules import BucketRules


def positions(seed: int, number: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"track": [f"t{n}" for n in rng.integers(0, 8, number)]})
    frame["time"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(number) * 20, unit="s")
    for name in REMEMBERED[1:]:
        frame[name] = rng.uniform(0, 50, number)
    frame["nav_status"] = rng.choice([0, 1, np.nan], number)
    frame["engine"] = None
    return frame.assign(offset=np.arange(number), kind=EVENT, payload=None, arrived_us=0)


def run(rows: pd.DataFrame, sizes: int, rules: BucketRules, flush: bool = False) -> pd.DataFrame:
    chunks: dict[int, pd.DataFrame] = {}
    held, out = None, []
    parts = [rows.iloc[first : first + sizes] for first in range(0, len(rows), sizes)]
    if flush:
        told = rows.iloc[[0]].assign(kind=CONTROL, payload='{"id": "1", "flush": true}')
        parts.append(told)
    for part in parts:
        reordering = Reordering(rules, held, lambda n: chunks.get(n, empty_memory()), chunks.__setitem__)
        out.append(reordering.advance(part))
        held = reordering.row()
    whole = pd.concat(out, ignore_index=True)
    return whole[whole["kind"] != CONTROL]


def expected(rows: pd.DataFrame) -> pd.DataFrame:
    ordered = rows.sort_values(["track", "time"], kind="stable", ignore_index=True)
    for name in REMEMBERED:
        ordered[f"previous_{name}"] = ordered.groupby("track")[name].shift(1)
    return ordered


def agree(got: pd.DataFrame, rows: pd.DataFrame) -> None:
    columns = ["track", "time", *(f"previous_{name}" for name in REMEMBERED)]
    mine = got[got["kind"] == EVENT].sort_values(["track", "time"], ignore_index=True)[columns]
    want = expected(rows)[columns]
    for name in columns:
        assert mine[name].astype(object).where(mine[name].notna(), None).tolist() == (
            want[name].astype(object).where(want[name].notna(), None).tolist()
        )


def test_each_position_meets_the_one_before_in_any_cut_and_after_any_rest() -> None:
    rows = positions(1)
    for sizes in (7, 60, 400):
        agree(run(rows, sizes, BucketRules(rest_after_us=100_000_000)), rows)


def test_positions_out_of_order_within_the_watermark_are_put_in_order() -> None:
    rows = positions(2)
    rng = np.random.default_rng(2)
    shuffled = rows.iloc[np.argsort(np.arange(400) * 20 + rng.uniform(0, 50, 400))]
    agree(run(shuffled, 23, BucketRules(out_of_order_us=60_000_000), flush=True), rows)


def test_a_position_of_a_clock_that_is_ahead_makes_none_of_other_tracks_late() -> None:
    rows, rng = positions(6), np.random.default_rng(6)
    rows.loc[rows["track"] == "t3", "time"] += pd.Timedelta(hours=3)
    shuffled = rows.iloc[np.argsort(np.arange(400) * 20 + rng.uniform(0, 50, 400))]
    got = run(shuffled, 23, BucketRules(out_of_order_us=60_000_000), flush=True)
    assert not (got["kind"] == LATE).any()
    agree(got, rows)


def test_a_late_position_is_passed_on_as_such() -> None:
    rows = positions(3)
    again = pd.concat([rows, rows.iloc[[10]].assign(offset=999)])
    got = run(again, 100, BucketRules())
    (late,) = got[got["kind"] == LATE]["payload"].tolist()
    assert json.loads(late)["reason"] == "late"
    agree(got, rows)


def test_late_positions_that_are_taken_after_all_change_those_after_them() -> None:
    rows, rng = positions(4), np.random.default_rng(4)
    coming = rows.iloc[np.argsort(np.arange(400) + np.where(rng.random(400) < 0.1, rng.uniform(10, 90, 400), 0))]
    for minutes in (200, 40):
        got = run(coming, 23, BucketRules(rerun_us=minutes * 60_000_000))
        late = [json.loads(text) for text in got[got["kind"] == LATE]["payload"]]
        assert len(late) > 20
        assert all(row["rerun"] for row in late)
        last = got[got["kind"].isin([EVENT, AGAIN])].drop_duplicates(["track", "time"], keep="last")
        agree(last.assign(kind=EVENT), rows)
        since = last.sort_values(["track", "time"])["status_since"].tolist()
        in_time = run(rows, 400, BucketRules()).sort_values(["track", "time"])["status_since"].tolist()
        assert since == in_time


def test_late_positions_of_tracks_that_rested_are_taken_only_where_their_past_is_kept() -> None:
    rows, rng = positions(5), np.random.default_rng(5)
    coming = rows.iloc[np.argsort(np.arange(400) + np.where(rng.random(400) < 0.15, rng.uniform(5, 60, 400), 0))]
    rules = BucketRules(rerun_us=40 * 60_000_000, rest_after_us=300_000_000)
    got = run(coming, 23, rules)
    late = got[got["kind"] == LATE]
    taken = np.array([json.loads(text)["rerun"] for text in late["payload"]])
    assert taken.any()
    assert not taken.all()
    last = got[got["kind"].isin([EVENT, AGAIN])].drop_duplicates(["track", "time"], keep="last")
    agree(last.assign(kind=EVENT), rows[~rows["offset"].isin(late["offset"][~taken])])


def test_rows_fit_their_schema_even_when_only_the_clock_ticks() -> None:
    ticks = positions(1).iloc[:2].assign(kind=TICK)
    schema = T.StructType(
        [
            T.StructField("track", T.StringType()),
            T.StructField("previous_time", T.TimestampType()),
            T.StructField("accelerating", T.BooleanType()),
            T.StructField("previous_lon", T.DoubleType()),
        ]
    )
    rows = fitted(run(ticks, 2, BucketRules()), schema)
    for field in schema.fields:
        kind = to_arrow_type(field.dataType)
        assert isinstance(pa.Array.from_pandas(rows[field.name], type=kind, safe=True), pa.Array)
