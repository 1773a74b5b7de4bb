"""Models in a folder: every version kept, the newest served as champion."""

from pathlib import Path

from models.counts import Counts, read_counts, write_counts
from models.errors import UnknownModelError
from models.files import read_model, write_model
from models.model import Model
from models.versions import serial_of

CHAMPION = "champion"


class ModelStore:
    """`DIR/<pattern>/models/<version>/model.npz` and `DIR/<pattern>/counts.npz`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, model: Model) -> str:
        """Keep the model under the next serial number; its version."""
        numbered = model.with_serial(1 + max((serial_of(v) or 0 for v in self.versions(model.pattern)), default=0))
        file = self._file(model.pattern, numbered.version)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_model(numbered, file)
        return numbered.version

    def load(self, pattern: str, version: str = CHAMPION) -> Model:
        """The model of that version, or the champion."""
        versions = self.versions(pattern)
        if not versions:
            msg = f"{self.folder}: no model of {pattern}. Train one with `foresail train`."
            raise UnknownModelError(msg)
        wanted = versions[-1] if version == CHAMPION else version
        if wanted not in versions:
            msg = f"{self.folder}: no model {wanted} of {pattern}. There are: {', '.join(versions)}."
            raise UnknownModelError(msg)
        return read_model(self._file(pattern, wanted))

    def versions(self, pattern: str) -> list[str]:
        """The versions of the pattern's models, oldest first."""
        found = (file.parent.name for file in (self.folder / pattern / "models").glob("*/model.npz"))
        serials = {version: serial_of(version) for version in found}
        return sorted((v for v, serial in serials.items() if serial is not None), key=lambda v: serials[v] or 0)

    def patterns(self) -> list[str]:
        """The patterns of which there is a model."""
        return sorted({file.parents[2].name for file in self.folder.glob("*/models/*/model.npz")})

    def counts(self, pattern: str) -> Counts | None:
        """The counts that the pattern's models were learned from, if there are any."""
        file = self.counts_file(pattern)
        return read_counts(file) if file.exists() else None

    def keep_counts(self, counts: Counts) -> None:
        """Keep the counts beside the models."""
        file = self.counts_file(counts.identity.pattern)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_counts(counts, file)

    def counts_file(self, pattern: str) -> Path:
        """Where the counts of a pattern lie."""
        return self.folder / pattern / "counts.npz"

    def _file(self, pattern: str, version: str) -> Path:
        return self.folder / pattern / "models" / version / "model.npz"
