"""The sender's side of control messages: what takes long is done here, before the message that switches to it."""

import hashlib
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import types as T  # noqa: N812

from foresail.bounded_yaml import bounded_text
from foresail.geo import publish, read_layers
from foresail.geo.errors import GeoError
from foresail.models.model import Model, build
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import BrokerError, InputError
from foresail.pipeline.progress import Progress
from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_COLUMNS
from foresail.pipeline.settings import Settings
from foresail.pipeline.stream.bucket.line_spec import CATALOGS, compiled_like
from foresail.pipeline.stream.control.message import Refusal, parse_control, shown

POLL_MS = 200


@dataclass(frozen=True, slots=True)
class Order:
    """What a user wants to be different."""

    pattern: str | None = None
    order: int | None = None
    model_version: str | None = None
    knobs: Mapping[str, Any] = field(default_factory=dict)
    catalog: tuple[Path, ...] = ()
    reload_layers: bool = False
    flush: bool = False
    rules: Path | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be different."""
        knobs = any(value is not None for value in self.knobs.values())
        rest = (self.order is not None, bool(self.model_version), bool(self.catalog), self.reload_layers, self.flush)
        return knobs or any(rest) or self.rules is not None


def control_message(settings: Settings, order: Order, progress: Progress) -> str:
    """The message for a running line; models and catalogs that it names are in the store when this returns."""
    message: dict[str, Any] = {"id": uuid.uuid4().hex[:12], "pattern": order.pattern}
    message |= {name: value for name, value in order.knobs.items() if value is not None}
    if order.model_version:
        message["model_version"] = order.model_version
    if order.order is not None:
        with progress.step(f"building order {order.order} of {order.pattern} from its counts"):
            message |= {"order": order.order, "model_version": model_of_order(settings, order.pattern, order.order)}
    if order.catalog:
        message["catalog"] = keep_catalog(_store(settings), order.catalog)
    if order.reload_layers:
        message["layers"] = publish_layers(settings, progress)
    if order.rules is not None:
        message["rules"] = bounded_text(order.rules, str(order.rules))
    if order.flush:
        message["flush"] = True
    text = json.dumps({name: value for name, value in message.items() if value is not None})
    checked = parse_control(text)
    if isinstance(checked, Refusal):
        msg = f"configure: {checked.reason}."
        raise InputError(msg)
    return text


def model_of_order(settings: Settings, pattern: str | None, order: int) -> str:
    """The version of a model of that order, learned from the stored counts and kept in the store."""
    if pattern is None:
        msg = "--order: needs --pattern."
        raise InputError(msg)
    store = ModelStore(_store(settings))
    return store.add(relearned(store, store.load(pattern), order), promote=False)


def relearned(store: ModelStore, model: Model, order: int) -> Model:
    """A model like `model` but of another order, from the counts beside it."""
    counts = store.counts(model.pattern)
    if counts is None:
        msg = f"{store.storage.place}: no counts of {model.pattern}. Train it with `foresail train` first."
        raise InputError(msg)
    if order > counts.max_order:
        msg = (
            f"--order {order}: {model.pattern} was counted up to order {counts.max_order}. Train it with a higher one."
        )
        raise InputError(msg)
    chosen = replace(model.settings, learn=replace(model.settings.learn, order=order))
    return build(compiled_like(model, known_types()), counts, chosen)


def known_types() -> dict[str, AttributeType]:
    """The types of the attributes that every line knows: canonical and derived ones."""
    fields = [T.StructField(name, kind) for name, kind in {**POSITION_COLUMNS, **DERIVED_COLUMNS}.items()]
    return attribute_types(T.StructType(fields))


def keep_catalog(store: Path, files: tuple[Path, ...]) -> str:
    """Put a catalog into the store, once it has been read without a fault; its version."""
    read_catalog(files)
    texts = [file.read_text(encoding="utf-8") for path in files for file in _yaml_files(path)]
    version = hashlib.sha256("\x1e".join(texts).encode()).hexdigest()[:12]
    folder = store / CATALOGS / version
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number:03d}.yaml").write_text(text, encoding="utf-8")
    return version


def _yaml_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]


def publish_layers(settings: Settings, progress: Progress) -> str:
    """Make the layers file, as it is now, the one in force; its version."""
    if settings.layers.file is None:
        msg = "--reload-layers: layers.file is not set. Name the layers file of the line."
        raise InputError(msg)
    try:
        layers = read_layers(settings.layers.file, settings.layers.directory, progress.say)
        publish(layers, settings.stream.checkpoint / "layers")
    except GeoError as error:
        raise InputError(str(error)) from error
    return ",".join(f"{layer.spec.name}={layer.version}" for layer in layers)


def _store(settings: Settings) -> Path:
    if settings.stream.models is None:
        msg = "stream.models: is not set. Name the model store of the line."
        raise InputError(msg)
    return settings.stream.models


def send(settings: Settings, text: str, wait_s: float) -> dict[str, Any]:
    """Send a message and wait for the reply to it."""
    from kafka import KafkaConsumer, KafkaProducer  # noqa: PLC0415 - only where something is sent
    from kafka.errors import KafkaError  # noqa: PLC0415

    servers, topics = settings.kafka.bootstrap_servers, settings.stream.topics
    if not servers:
        msg = "kafka.bootstrap_servers: is not set. Name the broker of the line."
        raise InputError(msg)
    try:
        replies = KafkaConsumer(topics.replies, bootstrap_servers=servers, auto_offset_reset="latest")
        deadline = time.monotonic() + wait_s
        while not replies.assignment() and time.monotonic() < deadline:
            replies.poll(POLL_MS)
        for partition in replies.assignment():
            replies.position(partition)
        producer = KafkaProducer(bootstrap_servers=servers)
        producer.send(topics.control, text.encode())
        producer.close()
        return _reply(replies, text, deadline, wait_s)
    except KafkaError as error:
        msg = f"{servers}: the message could not be sent ({error}). Check the broker."
        raise BrokerError(msg) from None


def _reply(replies: Any, text: str, deadline: float, wait_s: float) -> dict[str, Any]:
    """The reply to this message: by its id, or where it has none by its text."""
    sent = parse_control(text).id
    try:
        while time.monotonic() < deadline:
            for records in replies.poll(POLL_MS).values():
                for record in records:
                    reply = _read_reply(record.value)
                    if reply.get("id") == sent if sent else reply.get("message") == shown(text):
                        return reply
    finally:
        replies.close()
    msg = f"no reply within {wait_s:g} s. Is a line running? The message stays in the topic, and will be obeyed."
    raise InputError(msg)


def _read_reply(value: bytes | None) -> dict[str, Any]:
    """A reply; nothing where somebody else wrote something else to the topic."""
    try:
        held = json.loads(value or b"")
    except (ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}
