"""One NMEA line taken apart."""

from pipeline.sources.nmea_sentence import checksum, clock_of, parse_sentence

GOOD = "!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24"


def test_a_sentence_is_found_whatever_stands_around_it() -> None:
    for line in (GOOD, f"\\s:rx,c:1500000000*5A\\{GOOD}", f"2020-01-01T00:00:00Z {GOOD}", f"{GOOD},1241544035"):
        sentence = parse_sentence(line)
        assert sentence is not None
        assert sentence.text == GOOD
        assert sentence.sound


def test_the_time_of_reception_is_read_in_seconds_milliseconds_and_iso() -> None:
    def time_us(line: str) -> int | None:
        sentence = parse_sentence(line)
        assert sentence is not None
        return sentence.time_us

    assert time_us(f"\\c:1500000000*00\\{GOOD}") == 1_500_000_000_000_000
    assert time_us(f"\\s:a,c:1500000000123*00\\{GOOD}") == 1_500_000_000_123_000
    assert time_us(f"{GOOD},1241544035") == 1_241_544_035_000_000
    assert time_us(f"1970-01-01T00:00:01+00:00 {GOOD}") == 1_000_000
    assert time_us(GOOD) is None


def test_a_changed_letter_breaks_the_checksum() -> None:
    broken = parse_sentence(GOOD.replace("13u", "14u"))
    assert broken is not None
    assert not broken.sound
    assert checksum(GOOD) == 0x24


def test_gps_sentences_tell_the_clock() -> None:
    told = clock_of("$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A")
    assert told == 764_426_119_000_000
    assert clock_of("$GPZDA,201530.00,04,07,2002,00,00*60") == 1_025_813_730_000_000
    assert clock_of("$GPRMC,123519,V,,,,,,,230394,,*00") is None
    assert clock_of("$GPZDA,201530.00,44,07,2002,00,00*60") is None
