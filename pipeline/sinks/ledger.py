"""Which files a folder of positions was made from, by their content: the same file is never taken in twice."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from foresail.pipeline.errors import OutputError
from foresail.pipeline.sinks.output_folder import replaced

LEDGER_FILE = "sources.json"


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """One file that was taken in."""

    name: str
    sha256: str
    feed: str
    ingested_at: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All files that were taken in so far."""

    files: tuple[IngestedFile, ...] = ()

    def knows(self, sha256: str) -> bool:
        """Whether a file of this content was taken in, under whatever name."""
        return any(file.sha256 == sha256 for file in self.files)

    def with_files(self, feed: str, prints: dict[str, str], now: datetime) -> "Ledger":
        """The ledger with further files, by name and fingerprint."""
        fresh = (IngestedFile(name, sha256, feed, now.isoformat()) for name, sha256 in prints.items())
        return Ledger((*self.files, *fresh))

    def write(self, folder: Path) -> None:
        """Put the ledger into `folder`."""
        with replaced(folder / LEDGER_FILE) as place:
            place.write_text(json.dumps([asdict(file) for file in self.files], indent=1) + "\n", encoding="utf-8")


def read_ledger(folder: Path) -> Ledger:
    """The ledger of `folder`; an empty one where nothing was ingested yet."""
    file = folder / LEDGER_FILE
    if not file.exists():
        return Ledger()
    try:
        return Ledger(tuple(IngestedFile(**entry) for entry in json.loads(file.read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        msg = f"{file}: cannot be read as a list of ingested files. Ingest into a new folder, without --append."
        raise OutputError(msg) from None
