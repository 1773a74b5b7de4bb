"""Whatever control messages hold and name, the bucket goes on, keeps its configuration, and answers each of them."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foresail.models.store import ModelStore
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.tables import shared_conditions
from foresail.pipeline.stream.bucket.line_spec import LineSpec
from foresail.pipeline.stream.control.message import Configuration
from tests.hostile_yaml import BOMBS
from tests.models.forecasting import model_of
from tests.models.letters import lettered
from tests.models.test_archive import HOSTILE, changed
from tests.pipeline.stream import lines

PATTERN = lettered("a ; b")
NAMED = "lettered-v1-{:04d}-abcdef"


@pytest.fixture
def spec(tmp_path: Path) -> LineSpec:
    """A line with a model, whose store anybody could write into."""
    version = ModelStore(tmp_path).add(model_of(PATTERN, ["abxab" * 9]))
    return LineSpec(
        str(tmp_path),
        (PATTERN,),
        shared_conditions([PATTERN]),
        models=tmp_path,
        forecast={"lettered": version},
        types={"letter": AttributeType.STRING},
    )


def answers(running: lines.Running, *messages: dict[str, Any] | str) -> list[dict[str, Any]]:
    """The replies to these messages, all in one micro-batch."""
    running.told.clear()
    texts = [text if isinstance(text, str) else json.dumps({"id": str(n), **text}) for n, text in enumerate(messages)]
    running.read(lines.NOTHING, control=texts)
    return [json.loads(row["payload"]) for row in running.rows("ack")]


def is_as_it_was(running: lines.Running) -> bool:
    assert running.bucket is not None
    (reply,) = answers(running, {"pattern": "lettered", "threshold": 0.4})
    return running.bucket.monitor.forecaster is not None and bool(reply["accepted"])


@pytest.mark.parametrize("case", list(HOSTILE))
def test_a_hostile_model_file_is_refused_and_the_line_goes_on(spec: LineSpec, tmp_path: Path, case: str) -> None:
    folder = tmp_path / "lettered" / "models" / NAMED.format(7)
    folder.mkdir()
    (folder / "model.npz").write_bytes(HOSTILE[case]())
    running = lines.Running(spec)
    (reply,) = answers(running, {"pattern": "lettered", "model_version": NAMED.format(7)})
    assert not reply["accepted"]
    assert NAMED.format(7) in reply["reason"]
    assert is_as_it_was(running)


def test_a_model_that_asks_for_petabytes_is_refused_and_the_line_goes_on(spec: LineSpec, tmp_path: Path) -> None:
    folder = tmp_path / "lettered" / "models" / NAMED.format(7)
    folder.mkdir()
    (folder / "model.npz").write_bytes(changed(settings__horizon=10**15))
    running = lines.Running(spec)
    (reply,) = answers(running, {"pattern": "lettered", "model_version": NAMED.format(7)})
    assert "10000 are the limit" in reply["reason"]
    assert is_as_it_was(running)


@pytest.mark.parametrize("bomb", list(BOMBS))
def test_a_hostile_catalog_is_refused_and_the_line_goes_on(spec: LineSpec, tmp_path: Path, bomb: str) -> None:
    folder = tmp_path / "catalogs" / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / "000.yaml").write_text(BOMBS[bomb][0], encoding="utf-8")
    running = lines.Running(spec)
    (reply,) = answers(running, {"catalog": "0123456789ab"})
    assert not reply["accepted"]
    assert len(reply["reason"]) <= 1_000
    assert is_as_it_was(running)


@pytest.mark.parametrize("error", [RecursionError(), MemoryError(), UnicodeError("half a letter"), AssertionError()])
def test_whatever_is_raised_while_a_message_is_obeyed_it_is_refused(
    spec: LineSpec, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    running = lines.Running(spec)
    answers(running, {"flush": True})

    def fails(*_: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr("foresail.pipeline.stream.control.obeying.monitor_for", fails)
        (reply,) = answers(running, {"pattern": "lettered", "threshold": 0.9})
    assert (reply["accepted"], bool(reply["reason"])) == (False, True)
    assert running.bucket is not None
    assert running.bucket.configuration == Configuration()
    assert is_as_it_was(running)


def test_a_path_reaches_nothing_and_no_foreign_file_is_quoted(spec: LineSpec, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}_outside"
    outside.mkdir()
    (outside / "secret.yaml").write_text("password_of_the_bank: 1234\n", encoding="utf-8")
    running = lines.Running(spec)
    replies = answers(
        running,
        {"catalog": str(outside)},
        {"catalog": f"../../{outside.name}"},
        {"pattern": "lettered", "model_version": f"../../../{outside.name}"},
    )
    assert [reply["accepted"] for reply in replies] == [False] * 3
    assert all("not a name but a path" in reply["reason"] for reply in replies)
    assert "password" not in json.dumps(replies)


def test_a_refused_message_is_shown_in_part_and_named_by_its_offset(spec: LineSpec) -> None:
    (reply,) = answers(lines.Running(spec), "x" * 900_000)
    assert len(reply["message"]) == 1_000
    assert reply["offset"] == 0


FLOODS = {
    "no JSON": lambda n: f"{{{n}",
    "an unknown pattern": lambda n: {"pattern": f"p{n}", "enabled": False},
    "an unknown model": lambda n: {"pattern": "lettered", "model_version": NAMED.format(n)},
    "no version at all": lambda n: {"pattern": "lettered", "model_version": f"m{n}"},
    "a knob that does not fit": lambda n: {"pattern": "lettered", "within": 5_000 + n},
    "an unknown catalog": lambda n: {"catalog": f"c{n}"},
}


@pytest.mark.parametrize("flood", list(FLOODS))
def test_a_thousand_bad_messages_are_answered_in_no_time(spec: LineSpec, flood: str) -> None:
    running = lines.Running(spec)
    answers(running, {"flush": True})
    messages = [FLOODS[flood](n) for n in range(1, 1_001)]
    began = time.monotonic()
    replies = answers(running, *messages)
    assert time.monotonic() - began < 1.5
    assert len(replies) == 1_000
    assert not any(reply["accepted"] for reply in replies)


def test_a_broken_model_is_looked_at_once_in_a_micro_batch(spec: LineSpec, tmp_path: Path) -> None:
    folder = tmp_path / "lettered" / "models" / NAMED.format(7)
    folder.mkdir()
    (folder / "model.npz").write_bytes(HOSTILE["unpacks to more than the limit"]())
    running = lines.Running(replace(spec))
    began = time.monotonic()
    replies = answers(running, *([{"pattern": "lettered", "model_version": NAMED.format(7)}] * 1_000))
    assert time.monotonic() - began < 1.5
    assert len({reply["reason"] for reply in replies}) == 1
