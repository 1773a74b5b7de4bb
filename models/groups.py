"""Models of groups of tracks beside the one of all tracks: of a kind of vessel each, or of each track."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from foresail.models.archive import Archive, from_bytes, to_bytes
from foresail.models.counts import NO_GROUP, GroupedCounts
from foresail.models.errors import ModelFileError
from foresail.models.files import model_archive, model_of
from foresail.models.model import Model, ModelSettings, build
from foresail.patterns.compiler import CompiledPattern

PER_TRACK = "track"
"""In place of an attribute: every track is a group of its own."""
KIND = "models by group"


@dataclass(frozen=True, slots=True, eq=False)
class GroupModels:
    """The models of the groups that had enough to learn from; all other tracks are served by the one of all tracks."""

    per: str
    """The attribute that names a track's group, or `track`."""
    models: dict[str, Model]

    @property
    def names(self) -> tuple[str, ...]:
        """The groups with a model of their own, in the order of their models."""
        return tuple(self.models)

    def with_threshold(self, threshold: float) -> "GroupModels":
        """The same models with another least probability of a positive forecast."""
        changed = {name: model.with_settings(threshold=threshold) for name, model in self.models.items()}
        return replace(self, models=changed)

    def with_serial(self, serial: int) -> "GroupModels":
        """The same models under the serial number that a store gives them."""
        return replace(self, models={name: model.with_serial(serial) for name, model in self.models.items()})


def build_groups(
    pattern: CompiledPattern, counts: GroupedCounts, settings: ModelSettings, per: str, least_matches: int
) -> GroupModels:
    """A model of each group in whose events the pattern came at least so often."""
    models = {name: build(pattern, counts.of_group(name), settings, name) for name in _notes(counts, least_matches)}
    return GroupModels(per, models)


def _notes(counts: GroupedCounts, least_matches: int) -> Iterator[str]:
    for name, matches in zip(counts.groups, counts.matches, strict=True):
        if name != NO_GROUP and matches >= max(least_matches, 1):
            yield name


def groups_to_bytes(groups: GroupModels) -> bytes:
    """The content of a file that holds them all."""
    parts = [model_archive(model) for model in groups.models.values()]
    arrays = {f"{n}_{name}": array for n, part in enumerate(parts) for name, array in part.arrays.items()}
    values = {"per": groups.per, "names": list(groups.names), "models": [dict(part.values) for part in parts]}
    return to_bytes(Archive(KIND, values, arrays))


def groups_from_bytes(content: bytes, where: str) -> GroupModels:
    """The models that `groups_to_bytes` wrote, checked."""
    archive = from_bytes(content, KIND, where)
    try:
        parts: list[dict[str, NDArray[Any]]] = [{} for _ in archive.values["names"]]
        for name, array in archive.arrays.items():
            number, _, own = name.partition("_")
            parts[int(number)][own] = array
        named = list(zip(archive.values["names"], archive.values["models"], parts, strict=True))
        per = str(archive.values["per"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        msg = f"{where}: the models by group cannot be told apart ({error}). Train them anew with `foresail train`."
        raise ModelFileError(msg) from None
    models = {name: model_of(Archive(KIND, held, part), f"{where}, {name}") for name, held, part in named}
    return GroupModels(per, models)
