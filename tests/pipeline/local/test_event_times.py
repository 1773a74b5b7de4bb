import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import read_times

NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
NOON_US = int(NOON.timestamp()) * 1_000_000


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("tz", [None, "UTC", "+02:00", "Europe/Copenhagen"])
def test_timestamps_of_every_unit_and_zone_are_the_same_instant(unit: str, tz: str | None) -> None:
    instants = pa.array([NOON, None], pa.timestamp(unit, tz="UTC")).cast(pa.timestamp(unit, tz=tz))
    times = read_times(instants, "time", None)
    assert times.micros[0] == NOON_US
    assert times.known is not None
    assert times.known.tolist() == [True, False]
    assert times.naive is (tz is None)


def test_nanoseconds_are_cut_not_rounded_also_before_1970() -> None:
    times = read_times(pa.array([-1, 1_999], pa.int64()).cast(pa.timestamp("ns", tz="UTC")), "time", None)
    assert times.micros.tolist() == [-1, 1]


def test_a_date_is_its_midnight() -> None:
    assert read_times(pa.array([dt.date(2024, 5, 1)]), "day", None).micros.tolist() == [NOON_US - 43_200_000_000]


@pytest.mark.parametrize(
    ("texts", "naive"),
    [
        (["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00"], False),
        (["2024-05-01 12:00:00", "2024-05-01T12:00:00.000"], True),
        (["2024-05-01T12:00:00Z", "2024-05-01 12:00"], True),
    ],
)
def test_texts_are_iso_times_with_or_without_a_zone(texts: list[str], naive: bool) -> None:
    times = read_times(pa.array(texts), "time", None)
    assert times.micros.tolist() == [NOON_US, NOON_US]
    assert times.naive is naive


def test_a_text_that_is_no_time_is_given_but_not_known() -> None:
    times = read_times(pa.array(["2024-05-01T12:00:00Z", "noon", None]), "time", None)
    assert times.known is not None
    assert times.given is not None
    assert times.known.tolist() == [True, False, False]
    assert times.given.tolist() == [True, True, False]


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000)])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string(), pa.decimal128(38, 0)])
def test_numbers_are_read_in_the_unit_that_is_said_or_told(unit: str, scale: int, kind: pa.DataType) -> None:
    whole = pa.array([NOON_US // 1_000_000 * scale], pa.int64())
    numbers = whole.cast(pa.string()).cast(kind) if kind == pa.decimal128(38, 0) else whole.cast(kind, safe=False)
    heard: list[str] = []
    assert read_times(numbers, "ts", unit).micros.tolist() == [NOON_US]
    assert read_times(numbers, "ts", None, heard.append).micros.tolist() == [NOON_US]
    assert heard == [unit]


def test_the_unit_of_numbers_is_never_guessed_in_silence() -> None:
    with pytest.raises(InputError, match=r"column ts: holds numbers \(int64\).*time_unit='s'"):
        read_times(pa.array([1_714_564_800]), "ts", None)
    with pytest.raises(InputError, match="time_unit 'min': is no unit"):
        read_times(pa.array([1_714_564_800]), "ts", "min")


def test_fractions_of_seconds_and_nan() -> None:
    times = read_times(pa.array([1.5, float("nan"), float("inf"), None]), "ts", "s")
    assert times.micros[0] == 1_500_000
    assert times.known is not None
    assert times.known.tolist() == [True, False, False, False]


def test_instants_beyond_all_years_are_no_times() -> None:
    far = read_times(pa.array([NOON_US, 2**62], pa.int64()), "ts", "s")
    assert far.known is not None
    assert far.known.tolist() == [False, False]
    stamps = read_times(pa.array([2**62], pa.int64()).cast(pa.timestamp("s", tz="UTC")), "ts", None)
    assert stamps.known is not None
    assert not stamps.known.any()


def test_a_column_without_values_has_no_times() -> None:
    times = read_times(pa.nulls(3), "time", None)
    assert times.known is not None
    assert not np.any(times.known)


def test_what_is_no_time_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="column where: is struct"):
        read_times(pa.array([{"a": 1}]), "where", None)
