"""One NMEA line taken apart."""

from foresail.pipeline.sources.nmea import checksum, clock_of, parse_sentence

GOOD = "!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24"


def test_a_sentence_is_found_whatever_stands_around_it() -> None:
    for line in (GOOD, f"\\s:rx,c:1500000000*5A\\{GOOD}", f"2020-01-01T00:00:00Z {GOOD}", f"{GOOD},1241544035"):
        sentence = parse_sentence(line)
        assert sentence is not None
        assert sentence.text == GOOD
        assert sentence.fault is None


def test_the_time_of_reception_is_read_in_seconds_milliseconds_and_iso() -> None:
    def time_us(line: str) -> int | None:
        sentence = parse_sentence(line)
        assert sentence is not None
        return sentence.time_us

    assert time_us(f"\\c:1500000000*00\\{GOOD}") == 1_500_000_000_000_000
    assert time_us(f"\\s:a,c:1500000000123*00\\{GOOD}") == 1_500_000_000_123_000
    assert time_us(f"{GOOD},1241544035") == 1_241_544_035_000_000
    assert time_us(f"{GOOD},946684800") == 946_684_800_000_000
    assert time_us(f"{GOOD},946684799") is None
    assert time_us(f"1970-01-01T00:00:01+00:00 {GOOD}") == 1_000_000
    assert time_us(GOOD) is None


def test_a_changed_letter_breaks_the_checksum() -> None:
    broken = parse_sentence(GOOD.replace("13u", "14u"))
    assert broken is not None
    assert broken.fault == "bad_checksum"
    assert checksum(GOOD) == 0x24


def test_gps_sentences_tell_the_clock() -> None:
    told = clock_of("$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A")
    assert told == 764_426_119_000_000
    assert clock_of("$GPZDA,201530.00,04,07,2002,00,00*60") == 1_025_813_730_000_000
    assert clock_of("$GPRMC,123519,V,,,,,,,230394,,*00") is None
    assert clock_of("$GPZDA,201530.00,44,07,2002,00,00*60") is None


def test_a_time_that_can_be_none_is_a_fault_and_not_another_time() -> None:
    def told(line: str) -> tuple[str | None, int | None]:
        sentence = parse_sentence(line)
        assert sentence is not None
        return sentence.fault, sentence.time_us

    nines = "9" * 20
    assert told(f"\\c:{nines}*00\\{GOOD}") == ("future_time", None)
    assert told(f"\\c:{'9' * 5000}*00\\{GOOD}") == ("future_time", None)
    assert told(f"{GOOD},{nines}") == ("future_time", None)
    assert told(f"9999-12-31T23:59:59-14:00 {GOOD}") == ("future_time", None)
    assert told(f"\\c:\uff11\uff15\uff10\uff10*00\\{GOOD}") == ("no_time", None)
    assert told(f"{GOOD},\u00b2") == ("no_time", None)
    assert told(f"{GOOD},7") == (None, None), "a small number after the sentence is no time"


def test_numbers_of_parts_are_short_ascii_and_fit_together() -> None:
    assert parse_sentence(GOOD.replace(",1,1,", ",\uff11,\uff11,")) is None
    assert parse_sentence(GOOD.replace(",1,1,", f",{'1' * 5000},1,")) is None
    third_of_two = parse_sentence(f"!AIVDM,2,3,1,A,88888888880,2*{0x24:02X}")
    assert third_of_two is not None
    assert third_of_two.fault == "unreadable"
