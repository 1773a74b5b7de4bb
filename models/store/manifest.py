"""The manifest of a store: which model of each pattern serves, which one waits, which served before, and why.

One JSON file, replaced as a whole: whoever reads it sees the state before a promotion or the one after it.

Names in a store: patterns and versions are folders of it, so nothing else may be asked for under their name.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from foresail.models.errors import BadNameError, ManifestError

FORMAT = 1
MOST_REMEMBERED = 200
"""Decisions and scores kept for each pattern; models are kept until they are pruned."""


@dataclass(frozen=True, slots=True)
class Scored:
    """How a model did on the data of an interval."""

    version: str
    data: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was done to the aliases of a pattern, or not done, and why."""

    at: str
    what: str
    """promoted, kept, rolled back."""
    version: str
    before: str | None
    """The champion at that time."""
    why: str


@dataclass(frozen=True, slots=True)
class Record:
    """What the store knows of one pattern's models."""

    champion: str | None = None
    challenger: str | None = None
    earlier: tuple[str, ...] = ()
    """Former champions, the last one first."""
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    """Per version what a list shows of it."""
    scores: tuple[Scored, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def ever_named(self) -> set[str]:
        """Every version that is remembered, also of models that were pruned: no number is given twice."""
        recorded = {held.version for some in (self.decisions, self.scores) for held in some}
        return {*self.models, *self.earlier, *recorded}

    def scored(self, version: str, data: str | None = None) -> Scored | None:
        """The newest scores of a version, on that data if it is named."""
        found = (held for held in reversed(self.scores) if held.version == version and data in (None, held.data))
        return next(found, None)

    def with_decision(self, decision: Decision) -> "Record":
        """The same with one decision more."""
        return replace(self, decisions=(*self.decisions, decision)[-MOST_REMEMBERED:])

    def decided(self, version: str) -> bool:
        """Whether it was compared with this very champion before."""
        return any((held.version, held.before) == (version, self.champion) for held in self.decisions)

    def with_scores(self, scored: Scored) -> "Record":
        """The same with the scores, in place of those of the same model on the same data."""
        held = {(one.version, one.data): one for one in self.scores} | {(scored.version, scored.data): scored}
        return replace(self, scores=tuple(held.values())[-MOST_REMEMBERED:])


@dataclass(frozen=True, slots=True)
class Manifest:
    """All patterns of a store."""

    patterns: Mapping[str, Record] = field(default_factory=lambda: MappingProxyType({}))

    def record(self, pattern: str) -> Record:
        """What is known of a pattern; an empty record when nothing is."""
        return self.patterns.get(pattern, Record())

    def with_record(self, pattern: str, record: Record) -> "Manifest":
        """The same with another record of one pattern."""
        return Manifest({**self.patterns, pattern: record})


def manifest_to_bytes(manifest: Manifest) -> bytes:
    """The manifest as JSON that a person can read."""
    patterns = {
        name: {
            "champion": record.champion,
            "challenger": record.challenger,
            "earlier": list(record.earlier),
            "models": {version: dict(facts) for version, facts in record.models.items()},
            "scores": [{**asdict(scored), "values": dict(scored.values)} for scored in record.scores],
            "decisions": [asdict(decision) for decision in record.decisions],
        }
        for name, record in sorted(manifest.patterns.items())
    }
    return (json.dumps({"format": FORMAT, "patterns": patterns}, indent=1) + "\n").encode()


def manifest_from_bytes(content: bytes, where: str, way_out: str) -> Manifest:
    """The manifest that `manifest_to_bytes` wrote; a fault is told with its line and the way out."""
    try:
        held = json.loads(content)
    except (ValueError, RecursionError) as error:
        place = f"{where}:{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else where
        msg = f"{place}: the manifest is not JSON ({getattr(error, 'msg', error)}). Mend the line, or {way_out}."
        raise ManifestError(msg) from None
    try:
        if held["format"] != FORMAT:
            msg = f"{where}: a manifest of format {held['format']}, not {FORMAT}. Use the release that wrote it."
            raise ManifestError(msg)
        return Manifest({name: _record(record) for name, record in held["patterns"].items()})
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"{where}: the manifest lacks {error}. Mend it, or {way_out}."
        raise ManifestError(msg) from None


def _record(held: Mapping[str, Any]) -> Record:
    return Record(
        champion=held["champion"],
        challenger=held["challenger"],
        earlier=tuple(held["earlier"]),
        models=dict(held["models"]),
        scores=tuple(Scored(**scored) for scored in held["scores"]),
        decisions=tuple(Decision(**decision) for decision in held["decisions"]),
    )


LONGEST = 200


def is_name(text: str) -> bool:
    """Whether the text can be the name of one file or folder inside the store, and of nothing outside it."""
    return 0 < len(text) <= LONGEST and text.isprintable() and not text.startswith(".") and not set(text) & set("/\\")


def checked_name(text: str) -> str:
    """The text, if it is a name."""
    if not is_name(text):
        msg = (
            f"{text[:60]!r}: not a name but a path, or too long. Name a pattern or a version as "
            "`foresail models list` shows it."
        )
        raise BadNameError(msg)
    return text


def inside(*names: str) -> str:
    """The path below the store that these names make."""
    return "/".join(map(checked_name, names))
