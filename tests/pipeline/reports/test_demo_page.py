"""The demonstration's page says of patterns what a user must know to judge them."""

from types import SimpleNamespace
from typing import cast

from foresail.pipeline.reports import demo
from foresail.pipeline.reports.recognition import Recognition


def test_patterns_that_read_what_most_events_lack_are_named() -> None:
    known = SimpleNamespace(patterns=(), absent=(), little_known={})
    lacking = SimpleNamespace(patterns=(), absent=(), little_known={"port_entry": {"speed_kn": 0.1}})
    assert "unknown in most events" not in str(demo._found(cast(Recognition, known), ()))
    told = str(demo._found(cast(Recognition, lacking), ()))
    assert "port entry" in told
    assert "read speed_kn, known in 10% of events" in told
