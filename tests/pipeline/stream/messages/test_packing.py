"""Messages into packed tables by bucket, and out again."""

import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from foresail.patterns.conditions.parser import parse_condition
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.input_rows import CONTROL, EVENT, PACKED, unpacked_among, with_status
from foresail.pipeline.stream.messages.packing import Packing, unpacked
from foresail.pipeline.stream.messages.scan_kernel import ABSENT, FALSE, LONG, TEXT, TRUE
from foresail.pipeline.stream.messages.scanning import ScannedFields, instants_at, spark_places
from foresail.pipeline.stream.query.plan import plain_feed

ARRIVED = 1_760_000_000_000_000
TEXTS = (
    *("speed_kn > 5", "vessel_type = 'cargo'", "speed_kn is unknown", "track = 't7'"),
    *("hour(time) = 22 and weekday(time) = 2", "is_night(time, lon, lat)", "starts_with(track, 't1')"),
)
CONDITIONS = tuple(map(parse_condition, TEXTS))


def batch(messages: list[bytes]) -> pa.RecordBatch:
    many = len(messages)
    columns = {
        "value": pa.array(messages, pa.binary()),
        "partition": pa.array([3] * many, pa.int32()),
        "offset": pa.array(range(100, 100 + many), pa.int64()),
        "arrived": pa.array([ARRIVED] * many, pa.int64()),
    }
    return pa.RecordBatch.from_pydict(columns)


def packing(labels: tuple[int, ...]) -> Packing:
    feed = plain_feed(StreamSettings(source="kafka"), Policy(), {"lon", "lat", "speed_kn", "vessel_type"})
    assert feed is not None
    return Packing(feed, labels, CONDITIONS)


def test_plain_messages_reach_their_buckets_and_others_are_handed_on_untouched() -> None:
    tracks = [f"t{n}" for n in range(40)]
    messages = [
        json.dumps({"track": track, "time": 1_700_000_000 + n, "lon": 8, "lat": 54, "speed_kn": n % 9}).encode()
        for n, track in enumerate(tracks)
    ]
    odd = [b"no JSON", b'{"track": "t1", "time": 1700000000, "lon": 8, "lat": 99}', b"\xff", b""]
    many = [*messages[:20], *odd, *messages[20:]]
    (out,) = packing((7, 4))([batch(many)])
    rows = out.to_pylist()
    assert [(row["value"], row["offset"], row["packed"]) for row in rows if row["value"] is not None] == [
        (value, 120 + n, None) for n, value in enumerate(odd)
    ]
    packed = {row["packed_bucket"]: unpacked([row["packed"]]) for row in rows if row["packed"] is not None}
    places = dict(zip(tracks, spark_places(pa.array(tracks), 2), strict=True))
    assert {(track, bucket) for bucket, events in packed.items() for track in events["track"]} == {
        (track, (7, 4)[place]) for track, place in places.items()
    }
    events = unpacked([row["packed"] for row in rows if row["packed"] is not None]).sort_values("offset")
    assert events["track"].tolist() == tracks
    assert events["offset"].tolist() == [*range(100, 120), *range(124, 144)]
    assert events["time_us"].tolist() == [(1_700_000_000 + n) * 1_000_000 for n in range(40)]
    begins = [track.startswith("t1") for track in tracks]
    assert events["word_0"].tolist() == [int(n % 9 > 5) + 8 * (n == 7) + 48 + 64 * begins[n] for n in range(40)]
    assert events["arrived_us"].unique().tolist() == [ARRIVED]
    assert events["vessel_type"].tolist() == [None] * 40


def test_a_batch_of_nothing_plain_has_nothing_packed() -> None:
    (out,) = packing((1,))([batch([b"a", b"b"])])
    assert out.column("value").to_pylist() == [b"a", b"b"]
    assert out.column("packed").null_count == 2


def test_null_attributes_come_back_as_spark_hands_them_over() -> None:
    texts = ['"cargo"', "null", '"tug"']
    message = '{{"track": "t", "time": {}, "lon": 8, "lat": 54, "speed_kn": null, "vessel_type": {}}}'
    messages = [message.format(1_700_000_000 + n, text).encode() for n, text in enumerate(texts)]
    (out,) = packing((1,))([batch(messages)])
    events = unpacked(out.column("packed").to_pylist())
    assert events["vessel_type"].tolist() == ["cargo", None, "tug"]
    assert np.isnan(events["speed_kn"].to_numpy()).all()
    assert events["word_0"].tolist() == [0b110110, 0b110100, 0b110100]


PLAIN_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='"\\@ '), min_size=1)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), PLAIN_TEXT, st.decimals(-999, 999, places=9)
)


def spelled(value: object) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool | int | str) else f"{value:f}"


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), VALUES), min_size=1, max_size=8), st.sampled_from(["", " "]))
def test_the_scanner_finds_what_is_written(messages: list[dict[str, object]], blank: str) -> None:
    texts = ["{" + ",".join(f'"{k}"{blank}:{blank}{spelled(v)}' for k, v in m.items()) + blank + "}" for m in messages]
    values = pa.array([text.encode() for text in texts], pa.binary())
    cuts, data = (np.frombuffer(values.buffers()[n], dtype=kind) for n, kind in ((1, np.int32), (2, np.uint8)))
    scanned = ScannedFields(data, cuts[: len(texts) + 1], ("a", "c", "e"))
    for row, message in enumerate(messages):
        if not scanned.plain[row]:
            minus_zero = any(
                spelled(v).startswith("-") and float(spelled(v)) == 0
                for v in message.values()
                if v is not None and not isinstance(v, str | bool)
            )
            assert not message or minus_zero, texts[row]
            continue
        for field, name in enumerate(scanned.fields):
            check(message.get(name), scanned, field, row)


def check(value: object, scanned: ScannedFields, field: int, row: int) -> None:
    state = scanned.states[field, row]
    start, end = scanned.starts[field, row], scanned.ends[field, row]
    text = bytes(scanned.data[start:end]).decode()
    match value:
        case None:
            assert state == ABSENT
        case bool():
            assert state == (TRUE if value else FALSE)
        case str():
            assert (state, text) == (TEXT, value)
        case _:
            assert float(text) == float(spelled(value))
            assert state == LONG or scanned.numbers[field, row] == float(spelled(value))


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)), st.sampled_from(["Z", ""]), st.sampled_from("T "))  # noqa: DTZ001
def test_instants_are_those_of_the_calendar(moment: datetime, zone: str, between: str) -> None:
    data = np.frombuffer((moment.isoformat(between) + zone).encode(), dtype=np.uint8)
    start, end = np.zeros(1, dtype=np.int32), np.full(1, len(data), dtype=np.int32)
    since = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    whole = since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds
    assert instants_at(data, start, end, np.ones(1, dtype=np.bool_)).tolist() == [whole]


def test_packed_events_stand_among_the_rows_of_a_step_that_derives() -> None:
    feed = plain_feed(StreamSettings(source="kafka"), Policy(), {"lon", "lat", "nav_status", "engine"})
    assert feed is not None
    states = [("null", "5"), ('"idle"', "1"), ("null", "null")]
    message = (
        '{{"track": "t{}", "time": "2024-05-01T00:00:0{}.5Z", "lon": 8, "lat": 54, "engine": {}, "nav_status": {}}}'
    )
    messages = [message.format(n, n, *state).encode() for n, state in enumerate(states)]
    (out,) = Packing(feed, (4,))([batch(messages)])
    rows = pd.DataFrame(
        {"bucket": 4, "kind": [CONTROL, PACKED], "track": "", "payload": ["{}", None]}
        | {"packed": [None, out.column("packed")[0].as_py()], "time": pd.Timestamp(0), "offset": 0, "arrived_us": 0}
        | {"lon": np.nan, "lat": np.nan, "engine": None, "nav_status": np.nan}
    )
    got = with_status(unpacked_among(rows))
    assert got["kind"].tolist() == [CONTROL, EVENT, EVENT, EVENT]
    assert got["bucket"].tolist() == [4] * 4
    assert got["status"].tolist() == [None, "5", "idle", None]
    assert got["time"].tolist()[1:] == [pd.Timestamp(f"2024-05-01 00:00:0{n}.5") for n in range(3)]
    assert got["time"].dtype == rows["time"].dtype
    assert got["offset"].tolist() == [0, 100, 101, 102]


def spark_hash(text: str) -> int:
    """Spark's `hash` of one text: murmur3 by four bytes, and what is left byte by byte, each as a signed number."""
    data, value = text.encode(), 42
    whole = len(data) // 4 * 4
    parts = [int.from_bytes(data[n : n + 4], "little") for n in range(0, whole, 4)]
    for part in [*parts, *(byte - 256 if byte > 127 else byte for byte in data[whole:])]:
        mixed = part * 0xCC9E2D51 & 0xFFFFFFFF
        mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & 0xFFFFFFFF
        value ^= mixed
        value = (value << 13 | value >> 19) & 0xFFFFFFFF
        value = (value * 5 + 0xE6546B64) & 0xFFFFFFFF
    value ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        value = (value ^ value >> shift) * factor & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def test_a_text_has_the_place_that_spark_gives_it() -> None:
    texts = ["", "a", "211000001", "Zürich", "a longer name, of 27 bytes.", *(f"track {n}" for n in range(50))]
    assert spark_places(pa.array(texts), 7).tolist() == [spark_hash(text) % 7 for text in texts]
    assert spark_places(pa.array(texts)[3:], 16).tolist() == [spark_hash(text) % 16 for text in texts[3:]]
    assert spark_places(pa.array([], pa.string()), 4).tolist() == []
