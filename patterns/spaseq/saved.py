"""The state of a query as bytes and back: plain JSON, so that it can be kept anywhere and read by a later version."""

import json
from typing import Any

from foresail.patterns.errors import PatternError
from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.machine import State
from foresail.patterns.spaseq.runs import Partition, Run, Trace

_FORM = 1


def saved(state: State) -> bytes:
    """The state as bytes."""
    whole = {
        "form": _FORM,
        "pending": [[event.stream, event.time_us, event.text, event.origin] for event in state.pending],
        "start_us": state.start_us,
        "until_us": state.until_us,
        "runs": state.runs,
        "sweep_us": state.sweep_us,
        "partitions": {key: _saved_partition(part) for key, part in state.partitions.items()},
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def resumed(content: bytes) -> State:
    """The state that was saved."""
    whole = json.loads(content)
    if whole.get("form") != _FORM:
        msg = (
            f"a saved state of the form {whole.get('form')}, and this version reads form {_FORM}. Start the query anew."
        )
        raise PatternError(msg)
    return State(
        [GraphEvent(*event) for event in whole["pending"]],
        whole["start_us"],
        whole["until_us"],
        {key: _partition(part) for key, part in whole["partitions"].items()},
        whole["runs"],
        whole["sweep_us"],
    )


def _saved_partition(part: Partition) -> list[Any]:
    return [
        [[atom, [_saved_run(run) for run in runs]] for atom, runs in part.waiting.items()],
        [[atom, [_saved_run(run) for run in runs]] for atom, runs in part.repeating.items()],
        [_saved_run(run) for run in part.passed],
    ]


def _partition(said: list[Any]) -> Partition:
    waiting, repeating, passed = said
    return Partition(
        {atom: [_run(run) for run in runs] for atom, runs in waiting},
        {atom: [_run(run) for run in runs] for atom, runs in repeating},
        [_run(run) for run in passed],
    )


def _saved_run(run: Run) -> list[Any]:
    steps = []
    trace = run.trace
    while trace is not None:
        trace, use, time_us = trace
        steps.append([use, time_us])
    return [run.atom, run.mappings, run.base, steps[::-1], run.last_us, run.deadline_us, run.window]


def _run(said: list[Any]) -> Run:
    atom, mappings, base, steps, last_us, deadline_us, window = said
    trace: Trace | None = None
    for use, time_us in steps:
        trace = (trace, use, time_us)
    return Run(atom, _mappings(mappings), _mappings(base), trace, last_us, deadline_us, window)


def _mappings(said: list[list[str | None]]) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(mapping) for mapping in said)
