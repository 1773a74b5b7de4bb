"""Lines decoded in whole batches are told as line by line with pyais: field by field, in any mixture and any cut."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyais import encode_dict

from foresail.pipeline.feeds import aivdm
from foresail.pipeline.feeds.aivdm import BatchDecoder
from foresail.pipeline.feeds.aivdm_kernels import OPEN
from foresail.pipeline.sources.nmea import as_batch
from foresail.pipeline.sources.nmea_decoder import Decoder, Line

START_US = 1_700_000_000_000_000
LOGS = ("gpsd_ais-18-27.log", "gpsd_ais-nmea-type6-fid55.log", "gpsd_ais-nmea.log", "pyais_nmea_data_sample.txt")


def table_of(lines: list[str]) -> pa.RecordBatch:
    numbers = list(range(1, len(lines) + 1))
    columns = [["f"] * len(lines), numbers, lines, [False] * len(lines)]
    kinds = (pa.string(), pa.int64(), pa.string(), pa.bool_())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["source", "line", "raw", "recoded"])


def one_by_one(lines: list[str]) -> list[dict[str, Any]]:
    decoder = Decoder(START_US)
    settled = [found for n, raw in enumerate(lines, 1) for found in decoder.advance(Line("f", n, raw, False))]
    return sorted(as_batch(settled + decoder.finish()).to_pylist(), key=lambda row: row["line"])


def in_batches(lines: list[str], cut: int) -> list[dict[str, Any]]:
    whole, decoder = table_of(lines), BatchDecoder(START_US)
    batches = [made for at in range(0, len(lines), cut) for made in decoder.advance(whole.slice(at, cut))]
    rows = [row for batch in [*batches, decoder.finish()] for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["line"])


def tagged(line: str, number: int) -> str:
    return f"\\s:rx,c:{1_500_000_000 + number // 3}*00\\{line}"


def stamped(line: str, number: int) -> str:
    return f"{line},{1_500_000_000_000 + number * 250}"


@pytest.mark.shared_data
@pytest.mark.parametrize("name", LOGS)
def test_every_line_of_the_logs_is_told_as_one_by_one(shared_data: Path, name: str) -> None:
    text = (shared_data / "nmea" / name).read_text(encoding="latin-1")
    lines = [line for line in text.split("\n") if line]
    dated = [tagged(line, n) if line.startswith("!") else line for n, line in enumerate(lines)]
    ended = [stamped(line, n) if line.startswith("!") else line for n, line in enumerate(lines)]
    for some in (lines, dated, ended):
        expected = one_by_one(some)
        assert in_batches(some, 100_000) == expected
        assert in_batches(some, 37) == expected
    assert (aivdm._Found(table_of(dated).column("raw")).states != OPEN).any(), "kernels decode some of them"


FIELDS = {
    "lon": st.floats(-181, 181),
    "lat": st.floats(-91, 91),
    "course": st.floats(0, 360),
    "heading": st.integers(0, 511),
    "second": st.integers(0, 63),
    "status": st.integers(0, 15),
    "turn": st.sampled_from([-128.0, -127.0, 127.0, 0.0, 3.0, -20.0, 700.0]),
    "speed": st.floats(0, 102),
    "shipname": st.text("ABC @Z09-", max_size=20),
    "callsign": st.text("ABC @Z09-", max_size=7),
    "destination": st.text("ABC @Z09-", max_size=20),
    "ship_type": st.integers(0, 99),
    "to_bow": st.integers(0, 511),
    "to_stern": st.integers(0, 511),
    "imo": st.integers(0, 2**30 - 1),
    "draught": st.floats(0, 25),
    "partno": st.sampled_from([0, 1]),
}
MESSAGES = st.fixed_dictionaries(
    {
        "type": st.sampled_from([1, 2, 3, 4, 5, 9, 14, 18, 19, 21, 24, 27]),
        "mmsi": st.integers(0, 999_999_999) | st.integers(980_000_000, 989_999_999),
        **FIELDS,
    }
)


@st.composite
def logs(draw: st.DrawFn) -> list[str]:
    """Messages in one or two lines, dated or not, with damage, and with lines of several messages mixed up."""
    lines: list[str] = []
    for number, message in enumerate(draw(st.lists(MESSAGES, min_size=1, max_size=12))):
        if message["type"] == 27:
            message |= {"speed": int(message["speed"]) % 64, "course": int(message["course"])}
        kinds = {"text": "hello"} if message["type"] == 14 else {"mothership_mmsi": 219000001}
        parts = encode_dict({**message, **kinds}, radio_channel=draw(st.sampled_from("AB")), seq_id=number % 3)
        dated = draw(st.sampled_from([tagged, stamped, lambda line, _: line]))
        lines += [dated(part, number) for part in parts]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        damage = draw(st.sampled_from(["drop", "swap", "cut", "letter", "twice", "tail", "clock"]))
        line = lines[at]
        place = draw(st.integers(0, len(line)))
        if damage == "drop":
            lines = [*lines[:at], "", *lines[at + 1 :]]
        elif damage == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        elif damage == "twice":
            lines.insert(draw(st.integers(0, len(lines))), line)
        elif damage == "clock":
            lines.insert(at, "$GPRMC,081836,A,3751.65,S,14507.36,E,000.0,360.0,130998,011.3,E*62")
        else:
            changed = {"cut": line[:place], "tail": line + " x", "letter": line[:place] + "w" + line[place + 1 :]}
            lines[at] = changed[damage]
    return lines


@settings(max_examples=100, deadline=None)
@given(logs(), st.integers(1, 9))
def test_random_messages_are_told_as_one_by_one(lines: list[str], cut: int) -> None:
    expected = one_by_one(lines)
    assert in_batches(lines, len(lines)) == expected
    assert in_batches(lines, cut) == expected


def test_reserved_ship_types_and_every_rate_of_turn_are_those_of_pyais() -> None:
    lines = []
    for code in range(100):
        lines += encode_dict({"type": 5, "mmsi": 219000001, "ship_type": code}, seq_id=code % 10)
        lines += encode_dict({"type": 1, "mmsi": 219000001, "turn": float(code * 8 - 400), "lon": 1.0, "lat": 2.0})
    dated = [tagged(line, 0) for line in lines]
    assert in_batches(dated, len(dated)) == one_by_one(dated)
    assert (aivdm._Found(table_of(dated).column("raw")).states != OPEN).all()
