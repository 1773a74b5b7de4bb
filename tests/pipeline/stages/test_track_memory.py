"""What a stream remembers: any way of cutting the positions into batches gives the same neighbours."""

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.stages.derive import PREVIOUS_COLUMNS
from foresail.pipeline.stages.track_memory import ChainedPositions, decode_memory, empty_memory, encode_memory, meet

ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.integers(0, 30), st.sampled_from(["1", "5", None]), st.none() | st.integers(0, 9)
    ),
    max_size=12,
    unique_by=lambda row: row[:2],
)

GAP_US = 5_000_000


def frame(rows: list[tuple[str, int, str | None, int | None]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "track": [row[0] for row in rows],
            "time": pd.to_datetime([row[1] for row in rows], unit="s"),
            "lon": [float(row[1]) for row in rows],
            "lat": 0.0,
            "speed_kn": pd.array([row[3] for row in rows], dtype="Float64").astype("float64"),
            "heading_deg": 1.0,
            "course_deg": 2.0,
            "status": pd.Series([row[2] for row in rows], dtype="object"),
            "offset": range(len(rows)),
        }
    )


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(0, 12))
def test_two_batches_give_what_one_gives(rows: list[tuple[str, int, str | None, int | None]], cut: int) -> None:
    ordered = sorted(rows, key=lambda row: row[1])
    whole = meet(frame(ordered), empty_memory(), gap_us=GAP_US).positions
    first = meet(frame(ordered[:cut]), empty_memory(), gap_us=GAP_US)
    second = meet(frame(ordered[cut:]), decode_memory(encode_memory(first.memory)), gap_us=GAP_US)
    parts = pd.concat([first.positions, second.positions]) if rows else whole
    key = ["track", "time"]
    columns = [*key, *PREVIOUS_COLUMNS, "late_reason"]
    pd.testing.assert_frame_equal(
        parts[columns].sort_values(key).reset_index(drop=True),
        whole[columns].sort_values(key).reset_index(drop=True),
        check_dtype=False,
    )


def test_a_track_is_heard_since_its_first_position_or_its_last_gap() -> None:
    rows = frame([("a", 0, "1", None), ("a", 5, "1", None), ("b", 6, "1", None), ("a", 11, "1", None)])
    first = meet(rows, empty_memory(), gap_us=GAP_US)
    assert heard_since(first) == {("a", 0): 0, ("a", 5): 0, ("a", 11): 11, ("b", 6): 6}
    second = meet(frame([("a", 16, "1", None), ("b", 12, "1", None)]), first.memory, gap_us=GAP_US)
    assert heard_since(second) == {("a", 16): 11, ("b", 12): 12}


def heard_since(met: ChainedPositions) -> dict[tuple[str, int], int]:
    seconds = {name: met.positions[name].astype("datetime64[s]").astype(int) for name in ("time", "heard_since")}
    return dict(zip(zip(met.positions["track"], seconds["time"], strict=True), seconds["heard_since"], strict=True))


def test_what_an_earlier_release_remembered_is_heard_since_its_last_position() -> None:
    known = meet(frame([("a", 10, "1", None)]), empty_memory()).memory
    stored = encode_memory(known.drop(columns="heard_since"))
    assert decode_memory(stored)["heard_since"].tolist() == known["time"].tolist()


def test_what_comes_too_late_is_marked_and_not_remembered() -> None:
    before = meet(frame([("a", 10, "1", None)]), empty_memory())
    after = meet(frame([("a", 5, "1", None), ("a", 10, "1", None), ("a", 20, "1", None)]), before.memory)
    assert dict(zip(after.positions["lon"], after.positions["late_reason"], strict=True)) == {
        5.0: "late",
        10.0: "same_time",
        20.0: None,
    }
    assert after.memory["lon"].tolist() == [20.0]
