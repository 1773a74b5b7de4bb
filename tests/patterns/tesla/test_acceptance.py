"""The acceptance cases of TESLA: by the reference, by the machine, and what is refused."""

import pytest

from tests.patterns.tesla.cases import CASES, RULES
from tests.patterns.tesla.running import by_machine, by_reference, events_of, expected


@pytest.mark.parametrize(("title", "rule", "events", "result", "options"), CASES, ids=[case[0] for case in CASES])
def test_case(title: str, rule: str, events: str, result: str, options: dict[str, str]) -> None:
    text = RULES.get(rule, rule)
    assert by_reference(text, events_of(events), **options) == expected(result), title
    assert by_machine(text, events_of(events), **options) == expected(result), title
