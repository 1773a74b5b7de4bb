"""The choices of the cleaning, as given on the command line."""

from datetime import UTC, datetime

import pytest

from foresail.pipeline.errors import InputError
from foresail.pipeline.stages.policy import Policy, parse_policy


def test_entries_set_choices_and_the_rest_keeps_its_default() -> None:
    policy = parse_policy(("jumps=split", "max-speed-kn=60", "earliest=2010-01-01T00:00:00"))
    assert (policy.jumps, policy.max_speed_kn) == ("split", 60.0)
    assert policy.earliest == datetime(2010, 1, 1, tzinfo=UTC)
    assert policy.spikes == Policy().spikes


@pytest.mark.parametrize(
    ("entry", "answer"),
    [("jmups=split", "Did you mean 'jumps'"), ("jumps=fly", "'flag', 'split' or 'reject'"), ("jumps", "not key=value")],
)
def test_a_wrong_entry_is_answered_with_what_may_be_written(entry: str, answer: str) -> None:
    with pytest.raises(InputError, match=answer):
        parse_policy((entry,))


def test_clocks_may_run_ahead_by_a_day() -> None:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    assert Policy().end_of_time(now) == datetime(2024, 5, 2, tzinfo=UTC)
