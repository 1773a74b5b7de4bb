"""What is asked of an ingest, and what it answers."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from foresail.pipeline.errors import BalanceError
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.stages.derive import DeriveOptions, options_of
from foresail.pipeline.stages.policy import Policy


@dataclass(frozen=True, slots=True)
class IngestOrder:
    """What is to be ingested, and how."""

    feed: Feed
    inputs: tuple[str, ...]
    out: Path
    policy: Policy
    now: datetime
    append: bool = False
    static: Path | None = None
    warn_share: float = 0.5
    """The share of rejected rows from which on the result has a warning."""

    @property
    def options(self) -> DeriveOptions:
        """The thresholds of the derived attributes."""
        return options_of(self.policy, self.feed.domain)


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of the rows; `rows_in = rows_out + rejected + duplicates`."""

    feed: str
    rows_in: int = 0
    rows_out: int = 0
    rejected: int = 0
    duplicates: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    duplicate_kinds: dict[str, int] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    out_of_order: int = 0
    rows_stored: int = 0
    tracks: int = 0
    files_read: tuple[str, ...] = ()
    files_skipped: tuple[str, ...] = ()
    files_strange: tuple[str, ...] = ()
    files_truncated: tuple[str, ...] = ()
    rejected_share: float = 0.0
    """Of the rows that could have been positions."""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


def check_balance(result: IngestResult) -> None:
    """Raise unless every row that came in is a position, a rejected row or a duplicate."""
    out = result.rows_out + result.rejected + result.duplicates
    if result.rows_in != out:
        msg = (
            f"ingest: {result.rows_in} rows in, but {result.rows_out} out + {result.rejected} rejected + "
            f"{result.duplicates} duplicates = {out}. Nothing was written; please report this with the input."
        )
        raise BalanceError(msg)
