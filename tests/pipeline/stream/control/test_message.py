import pytest

from foresail.pipeline.stream.control.message import (
    Configuration,
    ControlMessage,
    KnownNames,
    Overrides,
    Refusal,
    changed,
    configuration_from,
    parse_control,
)

KNOWN = KnownNames(("stays", "starts"), ("stays",))


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
    assert two.for_pattern("stays") == Overrides("stays-v1-0002-ab", 0.3, 30)
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


HOSTILE = {
    "100,000 brackets": ("[" * 100_000, "10,000 characters"),
    "deep lists": ("[" * 5_000, "deeper than 8 levels"),
    "deep objects": ('{"id":' * 1_500, "deeper than 8 levels"),
    "deep in a value": ('{"id": "1", "pattern": ' + "[" * 3_000 + "]" * 3_000 + "}", "deeper than 8 levels"),
    "a long text": ('{"id": "' + "x" * 1_000_000 + '"}', "10,000 characters"),
    "a number of 5,000 digits": (f'{{"id": "1", "pattern": "stays", "horizon": {"9" * 5_000}}}', "not JSON"),
    "half a letter": ('{"id": "\\ud800", "pattern": "stays", "threshold": 0.1}', "id: "),
    "no text at all": (None, "not JSON"),
    "no text, as pandas has it": (float("nan"), "not JSON"),
    "not a number": ('{"id": "1", "pattern": "stays", "threshold": NaN}', "threshold: "),
    "a version that is a path": (
        '{"id": "1", "pattern": "stays", "model_version": "../../../../outside/x"}',
        "model_version: not a name but a path",
    ),
    "a catalog that is a path": ('{"id": "1", "catalog": "/any/path"}', "catalog: not a name but a path"),
    "a catalog that is hidden": ('{"id": "1", "catalog": ".git"}', "catalog: not a name but a path"),
    "a name without end": (f'{{"id": "1", "pattern": "{"x" * 5_000}", "enabled": false}}', "at most 200 characters"),
}


@pytest.mark.parametrize("case", list(HOSTILE))
def test_a_hostile_message_is_refused_in_one_line_whatever_it_holds(case: str) -> None:
    text, reason = HOSTILE[case]
    refused = parse_control(text)
    assert isinstance(refused, Refusal)
    assert reason in refused.reason
    assert "\n" not in refused.reason
    assert len(refused.reason) <= 1_000


def test_brackets_within_a_text_nest_nothing() -> None:
    said = parse_control('{"id": "[[[[[[[[[[[[\\"[[[[{{{{", "flush": true}')
    assert isinstance(said, ControlMessage)


def test_what_is_closed_again_is_not_deep() -> None:
    refused = parse_control("[" + ",".join(["[{}]"] * 2_000) + "]")
    assert isinstance(refused, Refusal)
    assert "deeper" not in refused.reason
