"""Java starts while the block loads its modules; the session is waited for, its faults raised, its end sure."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from foresail.pipeline.errors import SparkStartError
from foresail.pipeline.runtime import session
from foresail.pipeline.runtime.session import starting_spark
from foresail.pipeline.settings import read_settings

PATIENCE_S = 10
SETTINGS = read_settings(environment={})


class Start:
    """A Spark that is up once it may be, and what became of it."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.fault: BaseException | None = None
        self.asked: tuple[Any, ...] = ()
        self.stopped: list[object] = []
        self.spark = object()

    def __call__(self, *asked: Any) -> object:
        self.asked = asked
        self.begun.set()
        assert self.may_end.wait(PATIENCE_S)
        if self.fault is not None:
            raise self.fault
        return self.spark


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    begun = Start()
    monkeypatch.setattr(session, "start_spark", begun)
    monkeypatch.setattr(session, "fetch_jars", lambda *_: [])
    monkeypatch.setattr(session, "stop_quietly", begun.stopped.append)
    monkeypatch.setattr(session, "_running_context", lambda: None)
    yield begun
    begun.may_end.set()


def test_the_block_goes_on_while_java_starts_and_waits_where_it_asks(start: Start) -> None:
    with starting_spark(SETTINGS, "a job", short_work=True) as started:
        assert start.begun.wait(PATIENCE_S), "nobody asked for the session yet, and it is being made"
        assert not start.may_end.is_set()
        start.may_end.set()
        assert started() is start.spark
        assert started() is start.spark, "there is one session however often it is asked for"
        assert not start.stopped
    assert start.stopped == [start.spark]
    assert (start.asked[1], start.asked[3]) == ("a job", True)


def test_what_keeps_spark_from_starting_is_raised_where_it_is_waited_for(start: Start) -> None:
    start.fault = SparkStartError("no memory for it")
    start.may_end.set()
    with pytest.raises(SparkStartError, match="no memory for it"), starting_spark(SETTINGS, "a job") as started:
        started()
    assert not start.stopped, "what never ran is not stopped"


def test_a_block_that_fails_before_it_asks_leaves_no_spark_behind(start: Start) -> None:
    threading.Timer(0.2, start.may_end.set).start()
    with pytest.raises(ImportError), starting_spark(SETTINGS, "a job"):
        raise ImportError
    assert start.stopped == [start.spark], "it was waited for, and stopped"


def test_a_session_that_ran_before_goes_on(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_running_context", object)
    start.may_end.set()
    with starting_spark(SETTINGS, "a job") as started:
        assert started() is start.spark
    assert not start.stopped
