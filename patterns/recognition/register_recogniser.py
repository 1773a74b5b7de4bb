"""Patterns with registers in batches: their kernel with its state carried, as `recogniser` does for plain patterns."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.relations import Column
from foresail.patterns.conditions.syntax import Condition
from foresail.patterns.recognition.compilation import register_kernel
from foresail.patterns.recognition.events import EventBatch, Keys
from foresail.patterns.recognition.expiry import not_yet_emitted
from foresail.patterns.recognition.forms import PartForm, RecogniserForm, form_of
from foresail.patterns.recognition.impossible import ImpossibleEventError
from foresail.patterns.recognition.matches import NO_FEATURE, NOT_COUNTED, Matches, joined
from foresail.patterns.recognition.migration import blank_memory, migrated_memory
from foresail.patterns.recognition.protocol import Clock, LoadModel, Needs, Progress
from foresail.patterns.recognition.register_rows import MEMBERS, ROWS, RegisterRows, fresh_register_rows
from foresail.patterns.recognition.register_rules import (
    MOST_CONFIGURATIONS,
    RegisterRules,
    memory_of,
    rules_of,
    widths_of,
)
from foresail.patterns.recognition.register_state import (
    FIRST_START_TIME,
    FIRST_TIE,
    FIRST_TIME,
    LAST_INDEX,
    LAST_TIME,
    START_TIME,
    STATUS,
    PatternMemory,
    RegisterState,
    fresh_register_state,
    rearranged_rows,
)
from foresail.patterns.recognition.rows import TIMED_OUT
from foresail.patterns.recognition.tables import NEVER, shared_conditions
from foresail.patterns.recognition.track_state import REPORTED


def kept_columns(patterns: Iterable[CompiledPattern]) -> tuple[Column, ...]:
    """The values of events that the patterns among these with registers read, each once."""
    found = {column.name: column for p in patterns if p.memory is not None for column in p.memory.columns}
    return tuple(found.values())


class RegisterRecogniser:
    """All patterns of a catalog that read registers; `most` are the runs of one track and pattern."""

    def __init__(
        self,
        patterns: Sequence[CompiledPattern],
        conditions: Sequence[Condition] | None = None,
        updates: bool = True,
        most: int = MOST_CONFIGURATIONS,
    ) -> None:
        self.patterns = tuple(patterns)
        self.conditions = tuple(conditions) if conditions is not None else shared_conditions(self.patterns)
        self._rules = [rules_of(pattern, self.conditions, updates, most) for pattern in self.patterns]
        self._widths = [widths_of(pattern) for pattern in self.patterns]
        self._registers = max((widths.registers for widths in self._widths), default=0)

    @property
    def needs(self) -> Needs:
        """Conditions, and the values that relations compare."""
        return Needs(self.conditions, columns=tuple(column.name for column in kept_columns(self.patterns)))

    @cached_property
    def form(self) -> PartForm:
        """What the states of this recogniser belong to."""
        return PartForm("memory", recognised=RecogniserForm(tuple(map(form_of, self.patterns))))

    def fresh(self, keys: int, names: Keys = None) -> RegisterState:  # noqa: ARG002
        """The state of keys of which nothing has been read."""
        return fresh_register_state(self._widths, keys)

    def rearranged(self, state: RegisterState, rows: NDArray[np.int64], names: Keys = None) -> RegisterState:  # noqa: ARG002
        """A state whose row i is row `rows[i]` of `state`, or fresh where that is negative."""
        arranged: RegisterState = rearranged_rows(state, np.asarray(rows, dtype=np.int64))
        return arranged

    def advance(self, events: EventBatch, state: RegisterState) -> tuple[Matches, RegisterState]:
        """The matches that the events complete, and the state after them."""
        found, after = [self._nothing()], []
        for number, (rules, memory) in enumerate(zip(self._rules, state.patterns, strict=True)):
            matches, left = self._found(number, rules, events, state, memory)
            found.append(matches)
            after.append(left)
        return joined(found), _read(events, state)._replace(patterns=tuple(after))

    def joining(self, progress: Progress) -> RegisterState:
        """The state of keys that others have read so far."""
        return blank_memory(self.form.recognised, progress)

    def migrated(self, state: RegisterState, before: PartForm, load: LoadModel | None = None) -> RegisterState:  # noqa: ARG002
        """The state of keys that a recogniser of the form `before` has read, as this one goes on with it."""
        return migrated_memory(state, before.recognised, self.form.recognised)

    def expired(self, state: RegisterState, clock: Clock, touched: NDArray[np.bool_]) -> Matches:
        """A row `timed_out` for each open episode that ran out; the column `event` is the key's row in `state`."""
        found = [self._nothing()]
        for number, (rules, memory) in enumerate(zip(self._rules, state.patterns, strict=True)):
            if rules.max_gap_us == NEVER:
                continue
            deadline = state.last_time + rules.max_gap_us
            passed = (deadline < clock.now_us) & ((deadline >= clock.before_us) | touched)
            row = np.flatnonzero((memory.episode.numbers[:, STATUS] == REPORTED) & passed)
            found.append(self._timed_out(number, memory, row))
        return joined(found)

    def not_yet_emitted(
        self, results: Matches, events: EventBatch, last_time: NDArray[np.int64], until: NDArray[np.int64]
    ) -> Matches:
        """`results` without what a clock has emitted."""
        return not_yet_emitted(results, self.patterns, events, last_time, until)

    def runs(self, state: RegisterState) -> int:
        """How many runs are under way."""
        return sum(int(memory.configurations.at[-1]) for memory in state.patterns)

    def _found(
        self, number: int, rules: RegisterRules, events: EventBatch, state: RegisterState, memory: PatternMemory
    ) -> tuple[Matches, PatternMemory]:
        columns = memory_of(self.patterns[number]).columns
        numbers = _matrix(events, [column.name for column in columns if not column.long], np.dtype(np.float64))
        longs = _matrix(events, [column.name for column in columns if column.long], np.dtype(np.int64))
        episode = type(memory.episode)(*(values.copy() for values in memory.episode))
        own = memory._replace(episode=episode, omitted=memory.omitted.copy())
        after, rows, bad, given_up = register_kernel()(
            rules, events.words, events.times, events.first_of, numbers, longs, state.seen, state.last_time, state.tie,
            own,
        )  # fmt: skip
        if bad >= 0:
            raise _impossible(self.patterns[number], rules, events.words, bad)
        return self._matches(number, rows, ((number, int(given_up)),) if given_up else ()), after

    def _matches(self, number: int, rows: RegisterRows, given_up: tuple[tuple[int, int], ...]) -> Matches:
        n = int(rows.size[ROWS])
        return Matches(
            event=rows.event[:n],
            pattern=np.full(n, number, dtype=np.int32),
            status=rows.status[:n],
            index=rows.index[:n],
            time=rows.time[:n],
            start_time=rows.start_time[:n],
            first_start_time=rows.first_start_time[:n],
            id_time=rows.id_time[:n],
            id_tie=rows.id_tie[:n],
            count=rows.count[:n],
            omitted=rows.omitted[:n],
            feature=np.full(n, NO_FEATURE, dtype=np.int32),
            members=rows.members[: rows.size[MEMBERS]],
            members_end=rows.members_end[:n],
            register_index=self._wide(rows.register_index[:n]),
            register_time=self._wide(rows.register_time[:n]),
            given_up=given_up,
        )

    def _timed_out(self, number: int, memory: PatternMemory, row: NDArray[np.int64]) -> Matches:
        episode, n = memory.episode.numbers[row], len(row)
        return Matches(
            event=row.astype(np.int64),
            pattern=np.full(n, number, dtype=np.int32),
            status=np.full(n, TIMED_OUT, dtype=np.uint8),
            index=episode[:, LAST_INDEX],
            time=episode[:, LAST_TIME],
            start_time=episode[:, START_TIME],
            first_start_time=episode[:, FIRST_START_TIME],
            id_time=episode[:, FIRST_TIME],
            id_tie=episode[:, FIRST_TIE],
            count=np.full(n, NOT_COUNTED, dtype=np.int64),
            omitted=np.zeros(n, dtype=np.int64),
            feature=np.full(n, NO_FEATURE, dtype=np.int32),
            members=np.empty(0, dtype=np.int64),
            members_end=np.zeros(n, dtype=np.int64),
            register_index=self._wide(memory.episode.register_index[row]),
            register_time=self._wide(memory.episode.register_time[row]),
        )

    def _nothing(self) -> Matches:
        return self._matches(0, fresh_register_rows(0, 0, self._registers), ())

    def _wide(self, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """What registers hold in as many columns as the pattern with most registers has."""
        wide = np.zeros((len(held), self._registers), dtype=np.int64)
        wide[:, : held.shape[1]] = held
        return wide


def _matrix(events: EventBatch, names: Sequence[str], kind: np.dtype[np.generic]) -> NDArray[np.generic]:
    if not names:
        return np.empty((len(events), 0), dtype=kind)
    return np.ascontiguousarray(np.column_stack([events.columns[name] for name in names]).astype(kind, copy=False))


def _read(events: EventBatch, state: RegisterState) -> RegisterState:
    """How far each key has been read after the events."""
    sizes = np.diff(events.first_of)
    last, tie = state.last_time.copy(), state.tie.copy()
    for key in np.flatnonzero(sizes):
        first, end = int(events.first_of[key]), int(events.first_of[key + 1])
        time = events.times[end - 1]
        same = end - first - int(np.searchsorted(events.times[first:end], time, side="left"))
        begun = state.seen[key] > 0 and same == end - first and state.last_time[key] == time
        last[key], tie[key] = time, same - 1 + (state.tie[key] + 1 if begun else 0)
    return state._replace(seen=state.seen + sizes, last_time=last, tie=tie)


def _impossible(
    pattern: CompiledPattern, rules: RegisterRules, words: NDArray[np.int64], event: int
) -> ImpossibleEventError:
    bits = rules.bits[: rules.own]
    held = [
        name
        for name, bit in zip(pattern.condition_names, bits.tolist(), strict=False)
        if int(words[event, bit >> 6]) >> (bit & 63) & 1
    ]
    msg = (
        f"{pattern.name}: conditions {', '.join(held)} held on one event, but `exclusive` says that they cannot. "
        "Take them out of `exclusive`."
    )
    return ImpossibleEventError(msg)
