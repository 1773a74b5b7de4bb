"""The kernels, compiled ahead for one explicit signature each and kept on disk.

Arrow hands out read-only arrays and tests make writable ones; left to itself, numba would compile every kernel once
for each. The signatures ask for read-only inputs, which both satisfy.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import int64, typeof, types

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.family_kernel import advance_families
from foresail.patterns.recognition.family_states import fresh_family_states, rearranged_families
from foresail.patterns.recognition.joint import fresh_joint
from foresail.patterns.recognition.kernel import advance
from foresail.patterns.recognition.queues import fresh_queues, queues_with_room
from foresail.patterns.recognition.register_kernel import advance_registers
from foresail.patterns.recognition.register_rules import rules_of, widths_of
from foresail.patterns.recognition.register_state import fresh_memory
from foresail.patterns.recognition.rows import fresh_rows
from foresail.patterns.recognition.runs import fresh_scratch
from foresail.patterns.recognition.sets import Rules, advance_sets, fresh_set_states, rearranged_sets
from foresail.patterns.recognition.starts import at_rest, awake, stored_room
from foresail.patterns.recognition.tables import plan
from foresail.patterns.recognition.track_state import fresh_states
from foresail.patterns.spec import spec_of

Kernel = Callable[..., Any]


def _read_only(kind: Any, dimensions: int) -> Any:
    return types.Array(kind, dimensions, "C", readonly=True)


WORDS, LONGS, INTEGERS = _read_only(int64, 2), _read_only(int64, 1), _read_only(types.int32, 1)


@cache
def detection_kernel() -> Kernel:
    """`kernel.advance`, ready to be called."""
    some = plan([compile_pattern(spec_of("any", "a", {"a": "x"}))])
    states, rows = fresh_states(some, 1), fresh_rows(1)
    joint = fresh_joint(some)
    kinds = [typeof(value) for value in (states, rows, fresh_scratch(some))]
    return ready(advance, (typeof(some.tables), typeof(joint), WORDS, LONGS, INTEGERS, *kinds, int64))


@cache
def set_kernel() -> Kernel:
    """`sets.advance_sets`, ready to be called."""
    rules = Rules(np.zeros((1, 1, 2), np.int32), np.zeros(1, np.bool_), 0, 0, 0, False, False, 0)
    return ready(advance_sets, (typeof(rules), INTEGERS, LONGS, LONGS, typeof(fresh_set_states(1))))


@cache
def set_arrangement() -> Kernel:
    """`sets.rearranged_sets`, ready to be called."""
    return ready(rearranged_sets, (typeof(fresh_set_states(1)), LONGS))


@cache
def start_queues() -> Kernel:
    """`queues.awake`, ready to be called."""
    return ready(awake, (typeof(stored_room(0, 0, 1)), int64, int64))


@cache
def more_starts() -> Kernel:
    """`queues.queues_with_room`, ready to be called."""
    return ready(queues_with_room, (typeof(fresh_queues(0, 0, 1, 0)), int64, int64))


@cache
def stored_starts() -> Kernel:
    """`queues.at_rest`, ready to be called."""
    return ready(at_rest, (typeof(fresh_queues(0, 0, 1, 0)), int64))


@cache
def family_kernel() -> Kernel:
    """`family_kernel.advance_families`, ready to be called."""
    some = plan([compile_pattern(spec_of("any", "a", {"a": "x"}))])
    states = typeof(fresh_family_states(1, 1, 1, 1))
    return ready(advance_families, (typeof(some.tables), WORDS, LONGS, LONGS, LONGS, INTEGERS, WORDS, states))


@cache
def family_arrangement() -> Kernel:
    """`family_states.rearranged_families`, ready to be called."""
    return ready(rearranged_families, (typeof(fresh_family_states(1, 1, 1, 1)), LONGS))


@cache
def register_kernel() -> Kernel:
    """`register_kernel.advance_registers`, ready to be called."""
    where = {"a": "x > r.x"}
    pattern = compile_pattern(spec_of("any", "_ as r ; a", where, window_events=2))
    rules, memory = rules_of(pattern, pattern.conditions), fresh_memory(widths_of(pattern), 1)
    values = _read_only(types.float64, 2)
    signature = (typeof(rules), WORDS, LONGS, LONGS, values, WORDS, LONGS, LONGS, LONGS, typeof(memory))
    return ready(advance_registers, signature)


@cache
def _discard_stale(folder: Path, beside: Path = Path(__file__).parent) -> None:
    """Remove compiled kernels of other sources: numba looks at the file of a kernel, not at those of what it calls."""
    sources = _kernel_sources(beside)
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    stamp = folder / f"kernels-{digest}.stamp"
    if stamp.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    names = {source.stem for source in sources}
    for file in folder.iterdir():
        compiled = file.suffix in (".nbi", ".nbc") and file.name.split(".")[0] in names
        if compiled or file.suffix == ".stamp":
            file.unlink(missing_ok=True)
    stamp.touch()


def _kernel_sources(folder: Path) -> list[Path]:
    """The files of a folder that have kernels, and those whose functions and constants these take."""
    texts = {file.stem: file.read_text() for file in folder.glob("*.py")}
    found = [stem for stem, text in texts.items() if "numba" in text]
    for stem in found:
        named = re.findall(r"^from foresail[\w.]*\.(\w+) import", texts[stem], re.MULTILINE)
        found += [other for other in named if other in texts and other not in found]
    return [folder / f"{stem}.py" for stem in sorted(found)]


KERNELS: dict[str, Callable[[], Kernel]] = {
    "detection": detection_kernel,
    "sets of events": set_kernel,
    "sets of events, carried": set_arrangement,
    "starts in a window": start_queues,
    "starts in a window, more of them": more_starts,
    "starts in a window, carried": stored_starts,
    "patterns with registers": register_kernel,
    "pattern families": family_kernel,
    "pattern families, carried": family_arrangement,
}


def ready(kernel: Any, signature: tuple[Any, ...]) -> Kernel:
    """The kernel, compiled for that signature alone."""
    _discard_stale(Path(kernel._cache.cache_path), Path(kernel.py_func.__code__.co_filename).parent)
    kernel.compile(signature)
    kernel.disable_compile()
    compiled: Kernel = kernel
    return compiled
