"""NMEA lines to messages: every line comes out once, and none ends the stream."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.sources.nmea import as_batch, checksum
from foresail.pipeline.sources.nmea_decoder import Decoded, Decoder, Line

POSITION = "!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24"
STATIC = (
    "!AIVDM,2,1,1,A,55?MbV02;H;s<HtKR20EHE:0@T4@Dn2222222216L961O5Gf0NSQEp6ClRp8,0*1C",
    "!AIVDM,2,2,1,A,88888888880,2*25",
)
_BASE_STATION = "!AIVDM,1,1,,A,402R3WiurH`pn7TnPNSPB?Q00D3q,0*"
BASE_STATION = f"{_BASE_STATION}{checksum(_BASE_STATION):02X}"
NO_PAYLOAD = "!AIVDM,1,1,,B,,0*25"
GARBAGE = "\x00\xffnot a sentence"


def decoded(*lines: str, starts_us: int | None = None) -> list[Decoded]:
    decoder = Decoder(starts_us)
    found = [row for number, raw in enumerate(lines, 1) for row in decoder.advance(Line("a", number, raw, False))]
    return sorted([*found, *decoder.finish()], key=lambda row: row.of.line)


def faults(*lines: str) -> list[str | None]:
    return [row.fault for row in decoded(*lines)]


def test_a_position_report_becomes_a_position() -> None:
    (row,) = decoded(f"\\c:1500000000*00\\{POSITION}")
    assert (row.fault, row.mmsi, row.time_us) == (None, 265547250, 1_500_000_000_000_000)
    assert (row.speed_kn, row.heading_deg, round(row.lon or 0, 3)) == (13.9, 41.0, 11.833)


def test_a_bad_line_among_good_ones_is_set_aside_alone() -> None:
    corrupt = POSITION.replace("13u", "14u")
    expected = [None, "bad_checksum", None, "unreadable", "unreadable", None, "comment", "other_sentence", "blank_line"]
    assert faults(POSITION, corrupt, POSITION, NO_PAYLOAD, GARBAGE, POSITION, "# note", "$GPGSA,A*00", " ") == expected


def test_parts_are_joined_across_other_lines_and_in_any_order() -> None:
    for lines in ((STATIC[0], POSITION, STATIC[1]), (STATIC[1], POSITION, STATIC[0])):
        rows = decoded(*lines)
        assert [row.fault for row in rows] == ["not_a_position", None, "not_a_position"]
        assert rows[2].name == "EVER DIADEM"
        assert (rows[2].ship_type, rows[2].length_m) == (70, 295.0)


def test_a_part_whose_message_is_never_completed_is_kept_as_such() -> None:
    assert faults(STATIC[0], POSITION) == ["incomplete_message", None]
    assert faults(STATIC[0], STATIC[0], STATIC[1]) == ["incomplete_message", "not_a_position", "not_a_position"]


def test_a_base_station_sets_the_clock_for_those_after_it() -> None:
    station, position = decoded(BASE_STATION, POSITION)
    assert station.station == "base_station"
    assert station.time_us == 1_410_944_214_000_000
    assert position.from_clock
    assert position.time_us == station.time_us - 1_000_000, "second 53 is nearest to 08:56:54 one second before"


def test_undated_messages_follow_the_files_time_and_keep_their_order() -> None:
    rows = decoded(POSITION, POSITION, POSITION, starts_us=1_600_000_000_000_000)
    times = [row.time_us for row in rows if row.time_us]
    assert all(row.from_file for row in rows)
    assert [later - earlier for earlier, later in pairwise(times)] == [1_000_000, 1_000_000]
    assert decoded(POSITION)[0].time_us is None


def sealed(payload: str) -> str:
    """A sentence that carries `payload`, with the checksum it should have."""
    body = f"!AIVDM,1,1,,A,{payload},0*"
    return f"{body}{checksum(body):02X}"


def test_a_message_cut_short_is_rejected_whatever_its_checksum_says() -> None:
    for whole in (POSITION, BASE_STATION):
        payload = whole.split(",")[5]
        cut = [sealed(payload[:length]) for length in range(1, len(payload))]
        assert {row.fault for row in decoded(*cut)} == {"truncated_message"}
        first, *_, last = decoded(POSITION, *cut, POSITION, starts_us=1_600_000_000_000_000)
        assert (first.fault, last.fault) == (None, None)
    cut_static = sealed("55?MbV02;H;s<HtKR20EHE:0@T4@Dn2222222216L961O5Gf")
    assert faults(cut_static) == ["truncated_message"], "half a name is not used"


@settings(max_examples=200, deadline=None)
@given(st.text("0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVW`abcdefghijklmnopqrstuvw", max_size=75))
def test_any_payload_is_a_row_that_tables_can_hold(payload: str) -> None:
    rows = decoded(sealed(payload), starts_us=1_600_000_000_000_000)
    assert as_batch(rows).num_rows == 1


def test_a_time_beyond_all_tables_rejects_its_row_and_sets_no_clock() -> None:
    beyond = f"\\c:{'9' * 20}*00\\{POSITION}"
    rows = decoded(BASE_STATION, beyond, POSITION)
    assert [row.fault for row in rows] == [None, "future_time", None]
    assert rows[2].time_us == decoded(BASE_STATION, POSITION)[1].time_us
    assert as_batch(rows).num_rows == 3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([POSITION, *STATIC, BASE_STATION, NO_PAYLOAD, GARBAGE, "", "$GPGSA*00"]) | st.text(max_size=40)
    )
)
def test_every_line_that_goes_in_comes_out_once(lines: list[str]) -> None:
    assert [row.of.line for row in decoded(*lines)] == list(range(1, len(lines) + 1))
