"""Headers of CSV files: names, quotes, delimiters."""

from foresail.pipeline.sources.feeds import find_feed
from foresail.pipeline.sources.text_rows import delimiter_of, fields_of


def test_names_are_plain_and_may_hold_the_delimiter_in_quotes() -> None:
    assert fields_of('# Time,"Speed, kn", LON', ",") == ["time", "speed, kn", "lon"]
    assert fields_of("a;b", ";") == ["a", "b"]
    assert fields_of('5" pipe,b', ",") == ['5" pipe', "b"]


def test_the_delimiter_is_that_by_which_the_feed_has_its_fields() -> None:
    assert delimiter_of(find_feed("noaa"), "MMSI;BaseDateTime;LAT;LON") == ";"
    assert delimiter_of(find_feed("noaa"), "a;b") is None
