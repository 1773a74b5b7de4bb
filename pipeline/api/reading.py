"""`fs.read_feed`: files of a feed in, a frame of positions out, in this process."""

import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from foresail.pipeline.api.notices import ForesailWarning
from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.reading import FeedTables, read_tables
from foresail.pipeline.quality.measure import rejection_warning
from foresail.pipeline.sources.feeds import choose_feed
from foresail.pipeline.stages.clean import REASONS
from foresail.pipeline.stages.policy import parse_policy


def read_feed(
    feed: str,
    paths: str | Path | Sequence[str | Path],
    *,
    policy: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    tables: bool = False,
) -> Any:
    """The positions of a CSV feed as a pandas frame: the rows that `foresail ingest --from FEED` writes as events.

    `feed` is one of `foresail ingest --list`, or a mapping file. `policy` has the choices of `--policy`. Rows that were
    rejected or repeat others are told in a `ForesailWarning`; with `tables=True` everything comes back as Arrow tables:
    `events`, `rejected` and `duplicates`, with `reasons` and `repairs` counted.
    """
    chosen = choose_feed(feed, None)
    if chosen.arrays is None:
        msg = f"{feed}: is not read in this process. Use `foresail ingest --from {feed}`, and read its events."
        raise InputError(msg)
    given = [paths] if isinstance(paths, str | Path) else paths
    choices = parse_policy(tuple(f"{key}={value}" for key, value in (policy or {}).items()))
    found = read_tables(chosen, [str(path) for path in given], choices, now)
    if tables:
        return found
    _say(found)
    return found.events.to_pandas()


def _say(found: FeedTables) -> None:
    left_out = {**found.reasons, **({"repeats": found.duplicates.num_rows} if found.duplicates.num_rows else {})}
    if left_out:
        text = rejection_warning(found.rows_in, left_out, {**REASONS, "repeats": "of an instant of their track"})
        warnings.warn(text, ForesailWarning, stacklevel=3)
