"""The layers that families and enrichment need, in this process: read, checked and cached as every command does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foresail.geo.errors import GeoError
from foresail.pipeline.errors import InputError

if TYPE_CHECKING:
    from foresail.geo.layers import Layer


@dataclass(frozen=True, slots=True)
class LayersAtHand:
    """Layers by their names."""

    by_name: Mapping[str, "Layer"]

    @property
    def layers(self) -> tuple["Layer", ...]:
        """In the order of the file."""
        return tuple(self.by_name.values())


def no_layers() -> LayersAtHand:
    """None at all."""
    return LayersAtHand({})


def _silent(line: str) -> None:
    del line


def layers_at_hand(
    layers: "str | Path | Sequence[Layer] | None", cache: Path | None = None, say: Callable[[str], None] = _silent
) -> LayersAtHand:
    """The layers of a layers file, or those that are given."""
    if layers is None:
        return no_layers()
    if not isinstance(layers, str | Path):
        return LayersAtHand({layer.spec.name: layer for layer in layers})
    from foresail.geo.layers import read_layers  # noqa: PLC0415 - brings GeoPandas
    from foresail.pipeline.settings import read_settings  # noqa: PLC0415

    try:
        found = read_layers(Path(layers), cache or read_settings().layers.directory, say)
    except GeoError as error:
        raise InputError(str(error)) from error
    return LayersAtHand({layer.spec.name: layer for layer in found})
