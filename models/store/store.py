"""The model store: versioned models that never change, a manifest that says which serves, counts beside them.

`DIR/<pattern>/models/<version>/model.npz`, `DIR/<pattern>/counts.npz`, `DIR/<pattern>/counts/<interval>.npz`,
`DIR/manifest.json`. Writers take turns by a lock; readers need none, as every file is replaced in one move.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foresail.models.errors import LostModelError, ManifestError, UnknownModelError
from foresail.models.files import model_from_bytes, model_to_bytes
from foresail.models.groups import GroupModels, groups_from_bytes, groups_to_bytes
from foresail.models.identity import serial_of
from foresail.models.model import Model
from foresail.models.store.aliases import (
    CHALLENGER,
    CHAMPION,
    DEFAULT_METRIC,
    Judgement,
    Moment,
    is_alias,
    judged,
    kept,
    promoted,
    resolved,
    rolled_back,
)
from foresail.models.store.intervals import CountStore
from foresail.models.store.manifest import (
    Manifest,
    Record,
    Scored,
    checked_name,
    inside,
    is_name,
    manifest_from_bytes,
    manifest_to_bytes,
)
from foresail.models.store.storage import LocalStorage, Storage

MANIFEST = "manifest.json"
PREVIOUS = "manifest.previous.json"
BROKEN = "manifest.broken.json"


def utc_now() -> datetime:
    """The time of a decision."""
    return datetime.now(tz=UTC)


class ModelStore(CountStore):
    """Models by pattern and version, in a local folder or in any other `Storage`, and what they were learned from."""

    def __init__(self, folder: Path | Storage, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(LocalStorage(folder) if isinstance(folder, Path) else folder)
        self._clock = clock

    def add(
        self,
        model: Model,
        promote: bool = True,
        search: Mapping[str, Any] | None = None,
        groups: GroupModels | None = None,
    ) -> str:
        """Keep the model under the next serial number, as champion or (`promote` false) as challenger; its version.

        `search` tells how its settings were chosen, and is kept with it, and so are the models of groups of tracks. The
        same model, learned again from the same counts, is not kept twice, nor made challenger again.
        """
        with self.storage.locked():
            manifest = self.manifest()
            record = manifest.record(model.pattern)
            known = self._same(model, groups)
            version = known or self._written(model, search, groups)
            record = replace(record, models={**record.models, version: facts_of(model)})
            if promote:
                record = promoted(record, version, "added as champion", self._moment(model.pattern))
            elif known is None:
                record = replace(record, challenger=version)
            self._save(manifest.with_record(model.pattern, record))
        return version

    def load(self, pattern: str, version: str = CHAMPION) -> Model:
        """The model of that version or alias: champion, challenger, earlier-1, ..."""
        wanted = self.resolve(pattern, version)
        try:
            return model_from_bytes(self.storage.read(_file(pattern, wanted)), f"{self.storage.place}/{wanted}")
        except FileNotFoundError:
            raise self._lost(pattern, version, wanted) from None

    def has(self, pattern: str, version: str) -> bool:
        """Whether there is a file of that version; an alias is taken for granted."""
        return is_alias(version) or self.storage.exists(_file(pattern, version))

    def load_groups(self, pattern: str, version: str = CHAMPION) -> GroupModels | None:
        """The models of groups of tracks that belong to a model, if there are any."""
        wanted = self.resolve(pattern, version)
        try:
            content = self.storage.read(_groups(pattern, wanted))
        except FileNotFoundError:
            return None
        return groups_from_bytes(content, f"{self.storage.place}/{wanted}")

    def has_groups(self, pattern: str, version: str = CHAMPION) -> bool:
        """Whether models of groups of tracks belong to a model."""
        return self.storage.exists(_groups(pattern, self.resolve(pattern, version)))

    def resolve(self, pattern: str, name: str) -> str:
        """The version behind an alias."""
        checked_name(name)
        record = self.record(pattern)
        if not record.models and not self.versions(pattern):
            msg = f"{self.storage.place}: no model of {pattern}. Train one with `foresail train`."
            raise UnknownModelError(msg)
        return resolved(record, name, self._moment(pattern))

    def versions(self, pattern: str) -> list[str]:
        """The versions of the pattern's models, oldest first."""
        names = [name for name in self.storage.names(inside(pattern, "models")) if serial_of(name) is not None]
        whole = [name for name in names if self.storage.exists(_file(pattern, name))]
        return sorted(whole, key=lambda version: serial_of(version) or 0)

    def patterns(self) -> list[str]:
        """The patterns of which there is a model, or counts."""
        return [name for name in self._folders() if self.versions(name) or self.counted(name)]

    def record(self, pattern: str) -> Record:
        """What the manifest says of a pattern."""
        return self.manifest().record(pattern)

    def promote(self, pattern: str, name: str = CHALLENGER, why: str = "asked for", expected: str | None = None) -> str:
        """Let a model serve; its version. With `expected`, only while that one is still the champion."""
        with self.storage.locked():
            version = self._present(pattern, name)
            record = promoted(self.record(pattern), version, why, self._moment(pattern), expected)
            self._save(self.manifest().with_record(pattern, record))
        return version

    def promote_if_better(
        self, pattern: str, margin: float, name: str = CHALLENGER, metric: str = DEFAULT_METRIC
    ) -> Judgement:
        """Promote a model that was scored better than the champion by `margin`; else keep, and say why."""
        with self.storage.locked():
            if name == CHALLENGER and self.record(pattern).challenger is None and self.record(pattern).champion:
                return Judgement(
                    False, "there is no challenger: nothing new was learned", self.record(pattern).champion
                )
            version = self._present(pattern, name)
            record, moment = self.record(pattern), self._moment(pattern)
            judgement = judged(record, version, margin, metric)
            last = record.decisions[-1] if record.decisions else None
            if judgement.better:
                record = promoted(record, version, judgement.why, moment)
            elif last is None or (last.version, last.why) != (version, judgement.why):
                record = kept(record, version, judgement.why, moment)
            self._save(self.manifest().with_record(pattern, record))
        return judgement

    def rollback(self, pattern: str, why: str = "asked for") -> str:
        """Let the champion before this one serve again; its version."""
        with self.storage.locked():
            there = set(self.versions(pattern))
            record = rolled_back(self.record(pattern), why, self._moment(pattern), there.__contains__)
            self._save(self.manifest().with_record(pattern, record))
        assert record.champion is not None, "a rollback ends with a champion"
        return record.champion

    def keep_scores(self, pattern: str, version: str, data: str, values: Mapping[str, float]) -> None:
        """Remember how a model did on the data of an interval."""
        with self.storage.locked():
            record = self.record(pattern).with_scores(Scored(version, data, dict(values)))
            self._save(self.manifest().with_record(pattern, record))

    def prune(self, pattern: str, keep: int = 5) -> list[str]:
        """Remove models but for champion, challenger and the `keep` newest others; the versions that went."""
        with self.storage.locked():
            record = self.record(pattern)
            others = [v for v in self.versions(pattern) if v not in (record.champion, record.challenger)]
            gone = others[: max(len(others) - keep, 0)]
            if gone:
                left = {version: facts for version, facts in record.models.items() if version not in gone}
                earlier = tuple(version for version in record.earlier if version not in gone)
                # named no more, then removed: a reader never finds a name without its files
                self._save(self.manifest().with_record(pattern, replace(record, models=left, earlier=earlier)))
            for version in gone:
                self.storage.remove(inside(pattern, "models", version))
        return gone

    def repair(self) -> str:
        """Make the manifest anew, from the one before the last change or from the models that are there; which."""
        with self.storage.locked():
            if self.storage.exists(MANIFEST):
                self.storage.write(BROKEN, self.storage.read(MANIFEST))
            source = "the manifest before the last change"
            try:
                manifest = manifest_from_bytes(self.storage.read(PREVIOUS), PREVIOUS, "")
            except (FileNotFoundError, ManifestError):
                source, manifest = "the models that are there, the newest as champion", self._from_files()
            self.storage.write(MANIFEST, manifest_to_bytes(manifest))
        return source

    def manifest(self) -> Manifest:
        """The manifest; made from the models that are there where a store has none yet."""
        try:
            content = self.storage.read(MANIFEST)
        except FileNotFoundError:
            return self._from_files()
        way_out = f"run `foresail models repair --models {self.storage.place}`"
        return manifest_from_bytes(content, f"{self.storage.place}/{MANIFEST}", way_out)

    def search(self, pattern: str, version: str = CHAMPION) -> dict[str, Any] | None:
        """How the settings of a model were chosen, if they were searched for."""
        try:
            held = self.storage.read(_search(pattern, self.resolve(pattern, version)))
        except FileNotFoundError:
            return None
        return dict(json.loads(held))

    def _written(self, model: Model, search: Mapping[str, Any] | None, groups: GroupModels | None) -> str:
        named = {*self.versions(model.pattern), *self.record(model.pattern).ever_named}
        serial = max((serial_of(version) or 0 for version in named), default=0) + 1
        numbered = model.with_serial(serial)
        if search is not None:
            search_json = json.dumps({**search, "model_version": numbered.version}, indent=1) + "\n"
            self.storage.write(_search(model.pattern, numbered.version), search_json.encode())
        if groups is not None:
            content = groups_to_bytes(groups.with_serial(serial))
            self.storage.write(_groups(model.pattern, numbered.version), content)
        self.storage.write(_file(model.pattern, numbered.version), model_to_bytes(numbered))
        return numbered.version

    def _same(self, model: Model, groups: GroupModels | None) -> str | None:
        """The version under which this very model, with the same groups, is already kept."""
        content = model.version.rpartition("-")[2]
        for version in reversed(self.versions(model.pattern)):
            if version.rpartition("-")[2] == content and self.load(model.pattern, version).settings == model.settings:
                return version if _contents(self.load_groups(model.pattern, version)) == _contents(groups) else None
        return None

    def _present(self, pattern: str, name: str) -> str:
        version = self.resolve(pattern, name)
        if not self.storage.exists(_file(pattern, version)):
            raise self._lost(pattern, name, version)
        return version

    def _lost(self, pattern: str, asked: str, version: str) -> Exception:
        alias = is_alias(asked)
        if not alias and version not in self.record(pattern).models:
            known = ", ".join(self.versions(pattern)) or "none"
            return UnknownModelError(f"{self.storage.place}: no model {version} of {pattern}. There are: {known}.")
        there = set(self.versions(pattern))
        back = next((held for held in self.record(pattern).earlier if held in there), None)
        way_out = f"`foresail models rollback {pattern} --models {self.storage.place}` returns to {back}"
        if asked != CHAMPION or back is None:
            way_out = "train it anew with `foresail train`"
        what = f"{asked} {version}" if alias else version
        return LostModelError(
            f"{self.storage.place}: the files of {pattern}'s {what} are gone. Restore them, or {way_out}."
        )

    def _from_files(self) -> Manifest:
        records = {}
        for pattern in self._folders():
            versions = self.versions(pattern)
            if versions:
                earlier = tuple(reversed(versions[:-1]))
                records[pattern] = Record(versions[-1], None, earlier, {version: {} for version in versions})
        return Manifest(records)

    def _folders(self) -> list[str]:
        return [name for name in self.storage.names("") if is_name(name)]

    def _save(self, manifest: Manifest) -> None:
        content = manifest_to_bytes(manifest)
        if self.storage.exists(MANIFEST):
            before = self.storage.read(MANIFEST)
            if before == content:
                return
            self.storage.write(PREVIOUS, before)
        self.storage.write(MANIFEST, content)

    def _moment(self, pattern: str) -> Moment:
        return Moment(self._clock().isoformat(timespec="seconds"), pattern, self.storage.place)


def facts_of(model: Model) -> dict[str, Any]:
    """What a list shows of a model."""
    training, settings = model.header.training, model.settings
    return {
        "order": settings.learn.order,
        "symbols": model.header.identity.symbols,
        "contexts": len(model.contexts),
        "chain_states": model.chain.states,
        "threshold": settings.threshold,
        "within": settings.events_ahead,
        "events": training.events,
        "matches": training.matches,
        "first_us": training.first_us,
        "last_us": training.last_us,
        "scores": dict(model.header.scores),
    }


def _contents(groups: GroupModels | None) -> dict[str, str] | None:
    """What tells models of groups apart: the hash of each."""
    if groups is None:
        return None
    return {name: model.version.partition("@")[0].rpartition("-")[2] for name, model in groups.models.items()}


def _file(pattern: str, version: str) -> str:
    return inside(pattern, "models", version, "model.npz")


def _search(pattern: str, version: str) -> str:
    return inside(pattern, "models", version, "search.json")


def _groups(pattern: str, version: str) -> str:
    return inside(pattern, "models", version, "groups.npz")
