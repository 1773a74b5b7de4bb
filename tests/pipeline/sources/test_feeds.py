"""The table of adapters."""

from pathlib import Path

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.sources.feeds import FEEDS, choose_feed, find_feed


def test_a_feed_is_found_by_its_name_and_by_what_others_call_it() -> None:
    assert find_feed("noaa") is find_feed("Marine-Cadastre")
    assert set(FEEDS) >= {"noaa", "danish", "brest", "digitraffic", "nmea", "traccar", "gtfs_realtime", "canonical"}


def test_a_misspelt_feed_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'danish'\?"):
        find_feed("danisch")


def test_a_mapping_and_a_feed_of_its_own_do_not_go_together() -> None:
    with pytest.raises(InputError, match="takes no --mapping"):
        choose_feed("noaa", Path("any.yaml"))
    with pytest.raises(InputError, match="needs a --mapping"):
        choose_feed("mapped", None)
