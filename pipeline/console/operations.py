"""What users did about alerts: kept in a database with who and when, sent to a topic, and never changed afterwards.

An alert's present is the fold of its operations. Consoles that share a database
see what was done in the other.
"""

import json
import logging
import secrets
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from foresail.pipeline.errors import PipelineError
from foresail.pipeline.settings import Settings

logger = logging.getLogger(__name__)

KINDS = ("acknowledge", "reopen", "assign", "snooze", "mute", "unmute", "note")
LOOK_EVERY_S = 1.0
PATIENCE_S = 3
METADATA = MetaData()
OPERATIONS = Table(
    "operations",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("who", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("alert_id", String(64), index=True),
    Column("pattern", String(200)),
    Column("track", String(200)),
    Column("zone", String(200)),
    Column("assignee", String(200)),
    Column("until", DateTime(timezone=True)),
    Column("note", Text),
    Column("sent", Boolean, nullable=False, default=False),
)
AUDIT = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("who", String(200), nullable=False),
    Column("address", String(64)),
    Column("action", String(40), nullable=False),
    Column("detail", Text),
)
SECRETS = Table("secrets", METADATA, Column("name", String(40), primary_key=True), Column("value", String(200)))


class DatabaseError(PipelineError):
    """The database does not answer; what is shown goes on, what is done cannot be kept."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that somebody did."""

    kind: str
    who: str
    at: datetime
    alert_id: str | None = None
    pattern: str | None = None
    track: str | None = None
    zone: str | None = None
    assignee: str | None = None
    until: datetime | None = None
    note: str | None = None
    id: int = 0

    def summary(self) -> dict[str, Any]:
        """As the page and the topic show it."""
        held = {name: getattr(self, name) for name in self.__slots__}
        return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in held.items()}


@dataclass(slots=True)
class Standing:
    """What was done about one alert, in the end."""

    acknowledged_by: str | None = None
    acknowledged_at: str | None = None
    assignee: str | None = None
    snoozed_until: datetime | None = None
    notes: list[dict[str, Any]] = field(default_factory=list)

    def take(self, done: Operation) -> None:
        """Take in one more operation."""
        match done.kind:
            case "acknowledge":
                self.acknowledged_by, self.acknowledged_at = done.who, done.at.isoformat()
            case "reopen":
                self.acknowledged_by = self.acknowledged_at = self.snoozed_until = None
            case "assign":
                self.assignee = done.assignee
            case "snooze":
                self.snoozed_until = done.until
            case "note":
                self.notes.append({"who": done.who, "at": done.at.isoformat(), "note": done.note})

    def summary(self, now: datetime) -> dict[str, Any]:
        """As the page shows it."""
        snoozed = self.snoozed_until if self.snoozed_until and self.snoozed_until > now else None
        return {
            "acknowledged_by": self.acknowledged_by,
            "acknowledged_at": self.acknowledged_at,
            "assignee": self.assignee,
            "snoozed_until": snoozed.isoformat() if snoozed else None,
            "notes": self.notes[-100:],
        }


class Operations:
    """The database of operations, and what they amount to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine = _engine(settings.console.database)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._standing: dict[str, Standing] = {}
        self._mutes: dict[tuple[str | None, str | None, str | None], Operation] = {}
        self._seen = 0
        self.changed: list[str] = []
        """Alerts about which something was done since this was last emptied."""
        self.mutes_changed = False
        self.fault = ""
        METADATA.create_all(self._engine)
        self._look()
        self._thread = threading.Thread(target=self._watch, name="console operations", daemon=True)

    def start(self) -> None:
        """Watch for what other consoles do, and send what was done to the topic."""
        self._thread.start()

    def close(self) -> None:
        """Watch no more."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        self._engine.dispose()

    def secret(self, name: str) -> bytes:
        """A key that outlives a restart, made when it is first asked for."""
        try:
            with self._engine.begin() as connection:
                held = connection.execute(select(SECRETS.c.value).where(SECRETS.c.name == name)).scalar()
                if held is None:
                    held = secrets.token_hex(32)
                    connection.execute(insert(SECRETS).values(name=name, value=held))
        except SQLAlchemyError as error:
            raise _said(error) from error
        return bytes.fromhex(str(held))

    def add(self, operation: Operation) -> Operation:
        """Keep what somebody did; it holds when this returns."""
        values = {name: getattr(operation, name) for name in Operation.__slots__ if name != "id"}
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(OPERATIONS).values(**values, sent=False))
        except SQLAlchemyError as error:
            raise _said(error) from error
        self._look()
        return operation

    def note_action(self, who: str, address: str, action: str, detail: Any) -> None:
        """A line in the audit log."""
        text = json.dumps(detail, default=str, ensure_ascii=False)[:4000]
        row = {"at": datetime.now(UTC), "who": who[:200], "address": address[:64], "action": action, "detail": text}
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(AUDIT).values(**row))
        except SQLAlchemyError as error:
            raise _said(error) from error

    def audit(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """The audit log, newest first."""
        return self._rows(select(AUDIT).order_by(AUDIT.c.id.desc()).offset(offset).limit(limit))

    def done(self, offset: int, limit: int, alert_id: str | None = None) -> list[dict[str, Any]]:
        """Operations, newest first."""
        asked = select(OPERATIONS).order_by(OPERATIONS.c.id.desc()).offset(offset).limit(limit)
        rows = self._rows(asked if alert_id is None else asked.where(OPERATIONS.c.alert_id == alert_id))
        return [{name: value for name, value in row.items() if name != "sent"} for row in rows]

    def standing(self, alert_id: str) -> dict[str, Any]:
        """What was done about an alert."""
        with self._lock:
            return self._standing.get(alert_id, Standing()).summary(datetime.now(UTC))

    def is_muted(self, pattern: str, track: str | None, zone: str | None) -> bool:
        """Whether nobody wants to hear of this pattern for this track or zone."""
        now = datetime.now(UTC)
        with self._lock:
            if not self._mutes:
                return False
            held = [self._mutes.get(key) for key in ((pattern, track, None), (pattern, None, zone))]
        return any(mute is not None and (mute.until is None or mute.until > now) for mute in held)

    def mutes(self) -> list[dict[str, Any]]:
        """The mutes that hold now."""
        now = datetime.now(UTC)
        with self._lock:
            return [m.summary() for m in self._mutes.values() if m.until is None or m.until > now]

    def _rows(self, asked: Any) -> list[dict[str, Any]]:
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(asked).mappings().all()
        except SQLAlchemyError as error:
            raise _said(error) from error
        return [{str(k): _utc(v).isoformat() if isinstance(v, datetime) else v for k, v in row.items()} for row in rows]

    def _look(self) -> None:
        """Take in what was done since, here or elsewhere."""
        asked = select(OPERATIONS).where(OPERATIONS.c.id > self._seen).order_by(OPERATIONS.c.id)
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(asked).mappings().all()
        except SQLAlchemyError as error:
            raise _said(error) from error
        with self._lock:
            for row in rows:
                self._seen = max(self._seen, row["id"])
                held: dict[str, Any] = {name: row[name] for name in Operation.__slots__}
                held |= {name: _utc(value) for name, value in held.items() if isinstance(value, datetime)}
                self._take(Operation(**held))
        self.fault = ""

    def _take(self, done: Operation) -> None:
        if done.kind in ("mute", "unmute"):
            key = (done.pattern, done.track, None if done.track else done.zone)
            self._mutes.pop(key, None)
            if done.kind == "mute":
                self._mutes[key] = done
            self.mutes_changed = True
        if done.alert_id is not None:
            self._standing.setdefault(done.alert_id, Standing()).take(done)
            self.changed.append(done.alert_id)

    def _watch(self) -> None:
        producer: Any = None
        while not self._closing.wait(LOOK_EVERY_S):
            try:
                self._look()
                producer = self._send(producer)
            except DatabaseError as error:
                self.fault = str(error)
            except Exception as error:  # a broker that is gone: what waits is sent when it is back
                logger.info("console: operations could not be sent: %s", error)
                producer = None
        if producer is not None:
            producer.close(timeout=2)

    def _send(self, producer: Any) -> Any:
        """Send what the topic does not have yet."""
        servers = self._settings.kafka.bootstrap_servers
        if servers is None or not self._settings.stream.to_kafka:
            return None
        waiting = self._rows(
            select(OPERATIONS).where(OPERATIONS.c.sent.is_(False)).order_by(OPERATIONS.c.id).limit(500)
        )
        if not waiting:
            return producer
        if producer is None:
            from kafka import KafkaProducer  # noqa: PLC0415 - a console of files does not load it

            from foresail.pipeline.kafka import create_topics  # noqa: PLC0415

            create_topics(servers, [self._settings.stream.topics.operations])
            producer = KafkaProducer(bootstrap_servers=servers, max_block_ms=5000)
        for row in waiting:
            value = json.dumps({name: held for name, held in row.items() if name != "sent"}).encode()
            key = (row["alert_id"] or row["track"] or row["zone"] or "").encode()
            producer.send(self._settings.stream.topics.operations, value, key=key).get(timeout=10)
            with self._engine.begin() as connection:
                connection.execute(update(OPERATIONS).where(OPERATIONS.c.id == row["id"]).values(sent=True))
        return producer


def _engine(url: str) -> Engine:
    try:
        options = {"timeout": PATIENCE_S, "check_same_thread": False} if url.startswith("sqlite") else {}
        return create_engine(url, connect_args=options, pool_pre_ping=True)
    except (SQLAlchemyError, ImportError) as error:
        msg = f"console.database: cannot be used ({' '.join(str(error).split())[:200]}). Name a URL of SQLAlchemy."
        raise DatabaseError(msg) from None


def _said(error: Exception) -> DatabaseError:
    cause = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
    return DatabaseError(f"console.database: does not answer ({cause}). Mend it; nothing that was kept is lost.")


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def now() -> datetime:
    """The wall clock, whole milliseconds."""
    return datetime.fromtimestamp(round(time.time(), 3), UTC)
