import pytest

from pipeline.stream.configuration import Configuration, Turned, configuration_from
from pipeline.stream.control import ControlMessage, Known, Refusal, changed, parse_control

KNOWN = Known(("stays", "starts"), ("stays",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "message"),
        ('{"pattern": "stays", "threshold": 0.1}', "id: Field required"),
        ('{"id": "1", "pattern": "stays"}', "nothing to do"),
        ('{"id": "1", "threshold": 0.1}', "threshold needs a pattern"),
        ('{"id": "1", "pattern": "stays", "threshold": 1.5}', "threshold: Input should be less than or equal to 1"),
        ('{"id": "1", "pattern": "stays", "treshold": 0.5}', "treshold: Extra inputs are not permitted"),
        ('{"id": "1", "pattern": "stays", "kind": "maybe"}', "kind"),
    ],
)
def test_a_bad_message_is_refused_with_a_reason(text: str, reason: str) -> None:
    refused = parse_control(text)
    assert isinstance(refused, Refusal)
    assert reason in refused.reason


def after(text: str, before: Configuration | None = None) -> Configuration | Refusal:
    message = parse_control(text)
    assert isinstance(message, ControlMessage)
    return changed(before or Configuration(), message, KNOWN)


def test_knobs_are_turned_one_after_the_other_and_kept() -> None:
    one = after('{"id": "1", "pattern": "stays", "threshold": 0.3, "horizon": 30}')
    assert isinstance(one, Configuration)
    two = after('{"id": "2", "pattern": "stays", "model_version": "stays-v1-0002-ab", "enabled": false}', one)
    assert isinstance(two, Configuration)
    assert two.for_pattern("stays") == Turned("stays-v1-0002-ab", 0.3, 30)
    assert two.disabled == ("stays",)
    assert configuration_from(two.to_text()) == two


def test_switching_a_pattern_off_does_not_make_another_line() -> None:
    off = after('{"id": "1", "pattern": "starts", "enabled": false}')
    assert isinstance(off, Configuration)
    assert off.line_key() == Configuration().line_key()


def test_what_the_line_does_not_have_is_named() -> None:
    unknown = after('{"id": "1", "pattern": "stay", "enabled": false}')
    assert isinstance(unknown, Refusal)
    assert "There are: stays, starts" in unknown.reason
    silent = after('{"id": "1", "pattern": "starts", "threshold": 0.2}')
    assert isinstance(silent, Refusal)
    assert "not forecast by this line" in silent.reason
