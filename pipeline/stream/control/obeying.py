"""The control messages of a micro-batch, carried out in a bucket: each is obeyed or refused, and answered.

Nothing is raised here, whatever arrives: what ends a micro-batch ends the line, and every restart of it.

Replies to control messages: to the topic of replies, and for refused ones to the topic of dead letters too.
"""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from foresail.pipeline.settings import Settings
from foresail.pipeline.stream.bucket import findings
from foresail.pipeline.stream.bucket.bucket import Bucket
from foresail.pipeline.stream.bucket.line_spec import LineSpec, UnfitError, check_changed, monitor_for
from foresail.pipeline.stream.control.message import (
    Configuration,
    ControlMessage,
    KnownNames,
    Refusal,
    changed,
    parse_control,
    shown,
)


def obey(bucket: Bucket, specs: Sequence[LineSpec], messages: pd.DataFrame) -> tuple[list[pa.Table], bool]:
    """Carry out messages (payload, offset) in the order in which they came; the replies, and whether to flush."""
    replies: list[dict[str, Any]] = []
    flush = False
    obeying = Obeying(bucket, specs)
    for text, offset in zip(messages["payload"], messages["offset"], strict=True):
        outcome = obeying.outcome_of(text)
        reply: dict[str, Any]
        if isinstance(outcome, Refusal):
            reply = {"id": outcome.id, "accepted": False, "reason": outcome.reason, "message": shown(text)}
        else:
            flush = flush or bool(outcome.flush)
            asked = outcome.model_dump(exclude_none=True)
            holds = json.loads(bucket.configuration.to_text())
            reply = {"id": outcome.id, "accepted": True, "message": asked, "configuration": holds}
        replies.append({**reply, "offset": int(offset)})
    return ([findings.payload_rows(findings.ACK, replies)] if replies else []), flush


class Obeying:
    """Carries out the messages of one micro-batch; what was found out for one of them is not looked up for the next."""

    def __init__(self, bucket: Bucket, specs: Sequence[LineSpec]) -> None:
        self._bucket, self._specs = bucket, specs
        self._failed: dict[str, str] = {}
        """Why a line cannot be built, by its key."""
        self._known: tuple[Configuration, KnownNames] | None = None

    def outcome_of(self, text: object) -> ControlMessage | Refusal:
        """The message once it is obeyed, or why it is not."""
        message = parse_control(text)
        if isinstance(message, Refusal):
            return message
        try:
            after = changed(self._bucket.configuration, message, self._what_is_known())
            if isinstance(after, Refusal):
                return after
            self._take_up(after, message)
        except Exception as error:  # also what a catalog or a model file of others can make Python run out of
            return Refusal.of(message.id, error)
        return message

    def _take_up(self, after: Configuration, message: ControlMessage) -> None:
        """Build the monitors as every bucket of the query does, whatever it reads: what one must refuse, all refuse."""
        key = after.line_key()
        if key in self._failed:
            raise UnfitError(self._failed[key])
        try:
            for spec in self._specs:
                check_changed(spec, after, message.pattern)
            for spec in self._specs:
                monitor_for(spec, after)
        except Exception as error:
            self._failed[key] = Refusal.of(None, error).reason
            raise
        self._bucket.reconfigure(after)

    def _what_is_known(self) -> KnownNames:
        held = self._bucket.configuration
        if self._known is None or self._known[0] is not held:
            monitors = [monitor_for(spec, held) for spec in self._specs]
            names = tuple(pattern.name for monitor in monitors for pattern in monitor.patterns)
            self._known = held, KnownNames(names, tuple(name for spec in self._specs for name in spec.forecast))
        return self._known[1]


class Replies:
    """Sends replies through a producer that is opened with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._producer: Any = None

    def send(self, replies: list[dict[str, Any]]) -> None:
        """Send each reply; returns when the broker has them."""
        servers = self._settings.kafka.bootstrap_servers
        if not replies or servers is None:
            return
        topics = self._settings.stream.topics
        for reply in replies:
            self.publish(topics.replies, reply)
            if not reply["accepted"]:
                self.publish(topics.dead_letters, reply)
        self._producer.flush()

    def publish(self, topic: str, value: dict[str, Any]) -> None:
        """Send one object to a topic."""
        if self._producer is None:
            from kafka import KafkaProducer  # noqa: PLC0415 - a line without Kafka does not load it

            self._producer = KafkaProducer(bootstrap_servers=self._settings.kafka.bootstrap_servers)
        key = value.get("id") or value.get("pattern")
        self._producer.send(
            topic, json.dumps(value).encode(), key=key.encode("utf-8", "replace") if isinstance(key, str) else None
        )

    def close(self) -> None:
        """Let go of the producer."""
        if self._producer is not None:
            self._producer.close()
