"""One bucket of a live line of rules through a micro-batch: events put in order, rules run, composites emitted.

Pure: what comes in and what was saved decide what goes out, so that a micro-batch that is repeated after a crash says
the same again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.patterns.conditions import attributes_of
from foresail.patterns.errors import PatternError
from foresail.patterns.tesla.entry import TeslaEntry
from foresail.patterns.tesla.keys import Group
from foresail.patterns.tesla.machine import Composites, Notifications, Session
from foresail.patterns.tesla.plan import RulePlan
from foresail.patterns.tesla.state import BEGINNING, State, fresh_state
from foresail.pipeline.languages.runner import count_rows
from foresail.pipeline.languages.tesla.events import NO_PLACE, EventTables, notify
from foresail.pipeline.languages.tesla.messages import EVERYWHERE, NAMED, MessageForm, object_of
from foresail.pipeline.languages.tesla.results import RESULTS, composite_table, schema_of
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.input_rows import CONTROL, EVENT, REJECTED_MESSAGE, last_tick_us
from foresail.pipeline.stream.bucket.output_rows import BatchCounts
from foresail.pipeline.stream.control.message import ControlMessage, Refusal, parse_control, shown
from foresail.pipeline.stream.state.codec import decode, encode
from foresail.pipeline.stream.state.saved import BucketClock

SAVED_DDL = "about string, waiting binary, sessions binary"
WAITING = ("route", "first", "time_us", "offset", "arrived_us", "payload")
MOST_TICKS = 100_000
"""So many ticks at most are made up for in one micro-batch, after a silence."""
Saved = tuple[str, bytes, bytes]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """What all buckets of a live line of rules run."""

    entries: tuple[TeslaEntry, ...]
    form: MessageForm
    routes: tuple[str, ...]
    out_of_order_us: int = 0
    positions: bool = True
    """Whether offsets of messages are places that a reader can go to."""


@dataclass(frozen=True, slots=True)
class RulePart:
    """Rules of one set that run together in a bucket, and by which attribute the events of each type come here."""

    entry: TeslaEntry
    plan: RulePlan
    group: Group
    digest: str

    @property
    def routes(self) -> Mapping[str, str] | None:
        """By type the route; None where all events come."""
        return self.group.keys

    @property
    def name(self) -> str:
        """The part as it is called in the state."""
        return f"{self.entry.name}/{self.plan.resolved[0].name}"


@lru_cache(maxsize=64)
def parts_of(text: str) -> tuple[RulePart, ...]:
    """The parts of a rule set, given as the JSON of its entry."""
    entry = TeslaEntry.model_validate_json(text)
    plan = entry.plan()
    found = []
    for group in plan.groups:
        part = plan.part(group.rules)
        said = [text, list(group.rules)]
        found.append(RulePart(entry, part, group, hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]))
    return tuple(found)


def routes_of(entries: Sequence[TeslaEntry]) -> tuple[str, ...]:
    """The attributes by whose values messages must be spread for these rule sets."""
    found: dict[str, None] = {}
    for entry in entries:
        for part in parts_of(entry.model_dump_json()):
            found |= dict.fromkeys([EVERYWHERE] if part.routes is None else part.routes.values())
    return tuple(found)


@dataclass(slots=True)
class Held:
    """What a bucket knows between two micro-batches, beside events."""

    clock: BucketClock = field(default_factory=BucketClock)
    read_us: int = BEGINNING
    """The time up to which events and ticks have been read."""
    newest_us: int = BEGINNING
    changed: dict[str, str | None] = field(default_factory=dict)
    """Rule sets that control messages brought, as JSON, or took away."""


class RuleBucket:
    """The rules of one bucket; `advance` once, then `saved` is what to keep."""

    def __init__(self, line: RuleLine, everything: bool, saved: Saved | None) -> None:
        self.line, self._everything = line, everything
        self.held = Held()
        self.tally = BatchCounts()
        self.anew: list[str] = []
        self.limits: dict[str, int] = {}
        self._waiting = pd.DataFrame({name: [] for name in WAITING})
        sessions: dict[str, tuple[str, State, list[str]]] = {}
        if saved is not None:
            sessions = self._load(saved)
        self.sessions: dict[str, tuple[RulePart, Session]] = {}
        self._use(sessions)

    def _load(self, saved: Saved) -> dict[str, tuple[str, State, list[str]]]:
        about = json.loads(saved[0])
        clock = BucketClock(**about["clock"])
        self.held = Held(clock, about["read_us"], about["newest_us"], about["changed"])
        self._waiting = table_from_bytes(saved[1]).to_pandas()
        forms = about["sessions"]
        templates = tuple(fresh_state(attributes, rules) for _, _, attributes, rules, _ in forms)
        states = decode(saved[2], templates) if forms else ()
        return {form[0]: (form[1], state, form[4]) for form, state in zip(forms, states, strict=True)}

    def entries(self) -> dict[str, str]:
        """The rule sets in force, as JSON."""
        started = {entry.name: entry.model_dump_json() for entry in self.line.entries}
        return {name: text for name, text in (started | self.held.changed).items() if text is not None}

    def _use(self, before: Mapping[str, tuple[str, State, list[str]]]) -> None:
        """Sessions of all parts in force: what was saved for the same rules goes on, the rest begins anew."""
        self.sessions = {}
        for text in self.entries().values():
            for part in parts_of(text):
                if part.routes is None and not self._everything:
                    continue
                digest, state, texts = before.get(part.name, ("", None, None))
                if digest == part.digest:
                    self.sessions[part.name] = part, Session(part.plan.lowered, state, texts)
                    continue
                if digest:
                    self.anew.append(f"{part.name}: its rules are others, so it begins anew")
                self.sessions[part.name] = part, Session(part.plan.lowered)

    def obey(self, text: object) -> ControlMessage | Refusal:
        """Carry out a control message, or say why not."""
        message = parse_control(text)
        if isinstance(message, Refusal):
            return message
        other = sorted(message.model_fields_set - {"id", "pattern", "rules", "enabled", "flush"})
        if other:
            return Refusal(message.id, f"{other[0]}: a line of rules knows only rules, enabled and flush")
        if message.pattern is None:
            return message
        started = {entry.name: entry for entry in self.line.entries}
        if message.rules is None and message.pattern not in (started | self.held.changed):
            names = ", ".join(started | self.held.changed)
            return Refusal(message.id, f"unknown rule set '{message.pattern}'. There are: {names}")
        changed = dict(self.held.changed)
        try:
            if message.rules is not None:
                model = started.get(message.pattern)
                options = model.model_dump(exclude_unset=True) if model else {"name": message.pattern, "says": "Added."}
                entry = TeslaEntry.model_validate({**options, "rules": message.rules})
                changed[message.pattern] = entry.model_dump_json()
                self._check_routes(entry)
            elif message.enabled:
                if message.pattern in started:
                    changed.pop(message.pattern, None)
            else:
                changed[message.pattern] = None
        except (PatternError, ValueError) as error:
            return Refusal.of(message.id, error)
        before = {name: (p.digest, s.state, s.dictionary.texts) for name, (p, s) in self.sessions.items()}
        self.held = replace(self.held, changed=changed)
        self._use(before)
        self.anew = []
        return message

    def _check_routes(self, entry: TeslaEntry) -> None:
        """Messages are spread before they come here: rules by another key than the line's would miss some."""
        if entry.rules.strip().endswith(".tesla"):
            msg = "a message holds rules, not the name of their file"
            raise ValueError(msg)
        for part in parts_of(entry.model_dump_json()):
            wanted = [EVERYWHERE] if part.routes is None else list(part.routes.values())
            lacking = [route for route in wanted if route not in self.line.routes]
            if lacking:
                by = f"are keyed by {lacking[0]}" if lacking[0] else "have no key"
                there = ", ".join(route or "nothing" for route in self.line.routes)
                msg = (
                    f"its rules {by}, and this line spreads messages by {there}. "
                    "Name the attribute in stream.attributes and start the line anew"
                )
                raise ValueError(msg)
        known = {*self.line.form.columns, NAMED.time}
        unread = sorted(condition_columns(entry) - known)
        if unread:
            msg = f"its types read '{unread[0]}', whose type the line does not know. Name it in stream.columns"
            raise ValueError(msg)

    def advance(self, rows: pd.DataFrame) -> list[pa.Table]:
        """What one micro-batch brings about: rows of composites, late and rejected messages, replies."""
        kind = rows["kind"].to_numpy()
        emitted, flush = self._obey_all(rows[kind == CONTROL].sort_values("offset", kind="stable"))
        rejected = rows.loc[kind == REJECTED_MESSAGE, "payload"].tolist()
        emitted += [findings.payload_rows(findings.REJECTED, rejected)] if rejected else []
        arrived = rows.loc[kind == EVENT, list(WAITING)]
        arrived = arrived.assign(first=arrived["first"].astype(bool), time_us=arrived["time_us"].astype(np.int64))
        self.tally.rejected = len(rejected)
        self.tally.events = int(arrived["first"].sum())
        late = arrived["time_us"] < self.held.read_us
        told = arrived[late & arrived["first"]]
        self.tally.late = len(told)
        if len(told):
            said = [json.dumps({"reason": "late", "raw": raw}, ensure_ascii=False) for raw in told["payload"]]
            emitted.append(findings.payload_rows(findings.LATE, said))
        emitted += self._read(self._due(arrived[~late], last_tick_us(rows), flush))
        stats = {**asdict(self.tally), "outcomes": {}, "anew": self.anew, "limits": self.limits}
        return [*emitted, findings.payload_rows(findings.STATS, [stats])]

    def _obey_all(self, messages: pd.DataFrame) -> tuple[list[pa.Table], bool]:
        replies: list[dict[str, Any]] = []
        flush = False
        for text, offset in zip(messages["payload"], messages["offset"], strict=True):
            outcome = self.obey(text)
            reply: dict[str, Any]
            if isinstance(outcome, Refusal):
                reply = {"id": outcome.id, "accepted": False, "reason": outcome.reason, "message": shown(text)}
            else:
                flush = flush or bool(outcome.flush)
                holds = {"rules": sorted(self.entries())}
                asked = outcome.model_dump(exclude_none=True)
                reply = {"id": outcome.id, "accepted": True, "message": asked, "configuration": holds}
            replies.append({**reply, "offset": int(offset)})
        return ([findings.payload_rows(findings.ACK, replies)] if replies else []), flush

    def _due(self, arrived: pd.DataFrame, tick_us: int, flush: bool) -> tuple[pd.DataFrame, int]:
        """The events that have waited long enough, in order, and the time up to which that is."""
        held = self.held
        if len(arrived):
            held.newest_us = max(held.newest_us, int(arrived["time_us"].max()))
        held.clock = held.clock.hearing(held.newest_us if len(arrived) else None, tick_us)
        waiting = pd.concat([self._waiting, arrived], ignore_index=True) if len(self._waiting) else arrived
        upto = held.newest_us if flush else max(held.clock.reached_us, held.newest_us) - self.line.out_of_order_us
        due = (waiting["time_us"] <= upto).to_numpy(dtype=bool)
        self._waiting = waiting[~due]
        self.tally.waiting = len(self._waiting)
        ordered = waiting[due].sort_values(["time_us", "offset"], kind="stable", ignore_index=True)
        return ordered, upto

    def _read(self, due: tuple[pd.DataFrame, int]) -> list[pa.Table]:
        events, upto = due
        begin = self.held.read_us + 1
        if len(events):
            if self.held.read_us == BEGINNING:
                begin = int(events["time_us"].iloc[0])
            self.held.read_us = int(events["time_us"].iloc[-1])
        elif self.held.read_us == BEGINNING:
            return []
        objects = [object_of(text) or {} for text in events["payload"]]
        tables = self.line.form.read(objects)
        routes = events["route"].to_numpy(dtype=object)
        offsets = events["offset"].to_numpy(dtype=np.int64)
        emitted = []
        for part, session in self.sessions.values():
            found = self._composites(part, session, tables, routes, offsets, (begin, upto))
            if len(found):
                emitted.append(self._rows(part, session, found))
            self.limits |= {part.plan.resolved[n].name: count for n, count in session.limited().items()}
        return emitted

    def _composites(
        self,
        part: RulePart,
        session: Session,
        tables: EventTables,
        routes: NDArray[np.object_],
        offsets: NDArray[np.int64],
        span: tuple[int, int],
    ) -> Composites:
        ticking = None
        if part.entry.tick_us is not None:
            ticking = max(span[0], span[1] - MOST_TICKS * part.entry.tick_us), span[1]
            self.held.read_us = max(self.held.read_us, span[1] // part.entry.tick_us * part.entry.tick_us)
        events = notify(part.entry, part.plan, tables, NAMED, session.dictionary, ticking=ticking).notifications
        rows = np.minimum(events.sources, len(routes))
        came = np.append(routes, EVERYWHERE)[rows]
        wanted = (
            EVERYWHERE if part.routes is None else np.array([part.routes[name] for name in part.plan.lowered.types])
        )
        mine = came == (wanted if isinstance(wanted, str) else wanted[events.types])
        places = np.append(offsets if self.line.positions else np.full_like(offsets, NO_PLACE), NO_PLACE)[rows]
        return session.advance(
            Notifications(events.types[mine], events.times[mine], places[mine], events.at[mine], events.values)
        )

    def _rows(self, part: RulePart, session: Session, found: Composites) -> pa.Table:
        table = composite_table(part.plan, found, session.dictionary, schema_of([part.plan]))
        for rule, count in count_rows(table, "rule", ()).items():
            self.tally.composites[rule] = self.tally.composites.get(rule, 0) + count
        rows = findings.payload_rows(findings.COMPOSITE, list(RESULTS.json_lines(table)))
        return rows.append_column("track", table.column("key").combine_chunks())

    def saved(self) -> Saved:
        """What to keep: no more than windows reach, and the texts that are still at hand."""
        forms, states = [], []
        for name, (part, session) in self.sessions.items():
            session.forget_texts()
            lowered = part.plan.lowered
            states.append(session.pruned())
            forms.append([name, part.digest, len(lowered.attributes), len(lowered.rules), session.dictionary.texts])
        about = {
            "clock": asdict(self.held.clock),
            "read_us": self.held.read_us,
            "newest_us": self.held.newest_us,
            "changed": self.held.changed,
            "sessions": forms,
        }
        waiting = pa.Table.from_pandas(self._waiting, preserve_index=False)
        return json.dumps(about), table_to_bytes(waiting), encode(tuple(states))


def condition_columns(entry: TeslaEntry) -> set[str]:
    """The columns that the types of a rule set read."""
    return {attribute.key for condition in entry.conditions().values() for attribute in attributes_of(condition)}
