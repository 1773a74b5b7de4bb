"""A feed read in this process: what `foresail ingest` makes of files, without Spark and without a folder of results."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from foresail.pipeline.errors import InputError
from foresail.pipeline.feeds.finishing import Finished, Finishing
from foresail.pipeline.feeds.judging import Judge
from foresail.pipeline.feeds.parcels import count_reasons, parcels_of
from foresail.pipeline.feeds.pieces import packing_of, pieces_of, start_of
from foresail.pipeline.feeds.rows import SplitFile, split_file
from foresail.pipeline.sources.feed import Feed
from foresail.pipeline.sources.lines import check_lines
from foresail.pipeline.sources.text_rows import delimiter_of, fits
from foresail.pipeline.sources.zip_files import archive_name, with_unpacked
from foresail.pipeline.stages.policy import Policy


@dataclass(frozen=True, slots=True, eq=False)
class FeedTables:
    """What became of the rows of a feed; `rows_in` is the sum of all three tables."""

    events: pa.Table
    rejected: pa.Table
    duplicates: pa.Table
    rows_in: int
    repairs: dict[str, int]
    out_of_order: int
    finished: Finished

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows were rejected for each reason."""
        return dict(count_reasons([self.rejected]).most_common())


def read_tables(
    feed: Feed, paths: Sequence[str], policy: Policy | None = None, now: datetime | None = None
) -> FeedTables:
    """Files, folders or zips of a feed as tables of events, of rejected rows and of repeats."""
    places = local_files(paths)
    by = Judge(feed, policy or Policy(), now or datetime.now(UTC))
    check_lines(Path(place) for place in places)
    files = described(feed, [(place, archive_name(place)) for place in places])
    pieces = tuple(pieces_of(places))
    work = Finishing(pieces, files, by)
    finished = work.finish(parcel for piece in pieces for parcel in parcels_of(piece, files[piece.file], by, buckets=1))
    made = Counter(finished.counted.repairs) + Counter(swapped_coordinates=finished.mended)
    return FeedTables(
        finished.events,
        finished.rejected,
        finished.duplicates,
        finished.counted.rows + len(finished.truncated),
        dict(made),
        finished.out_of_order,
        finished,
    )


def local_files(paths: Iterable[str]) -> list[str]:
    """The files that are named, those of folders and zips too, by their names; hidden ones left out."""
    found: dict[str, None] = {}
    for given in paths:
        path = Path(given)
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        hidden = (p for p in inside if any(part.startswith(("_", ".")) for part in p.relative_to(path).parts))
        skipped = set(hidden)
        files = [str(file.absolute()) for file in inside if file.is_file() and file not in skipped]
        if not files:
            msg = f"{given}: no such file or folder, or nothing in it. Name files or folders that exist."
            raise InputError(msg)
        found |= dict.fromkeys(with_unpacked(files))
    return sorted(found, key=archive_name)


def described(
    feed: Feed,
    files: Sequence[tuple[str, str]],
    refused: Callable[[str, str], Exception] | None = None,
) -> tuple[SplitFile, ...]:
    """How each file (its place and its name) is split; where none is of the feed, that is a fault."""
    found: list[SplitFile] = []
    firsts: list[str] = []
    for place, name in files:
        if packing_of(place) is None:
            msg = f"{name}: packed in a way that is read through Spark alone. Use `foresail ingest`, or unpack it."
            raise InputError(msg)
        firsts.append(start_of(place))
        headless = feed.headless and not fits(feed, firsts[-1], feed.delimiter)
        header = feed.header if headless else firsts[-1]
        delimiter = delimiter_of(feed, header) if header.strip() else feed.delimiter
        found.append(split_file(feed, name, header, delimiter, not headless))
    if found and all(file.strange for file in found):
        if refused:
            raise refused(files[0][0], firsts[0])
        wanted = ", ".join(names[0] for names in feed.required)
        msg = f"{files[0][1]}: not a file of the feed '{feed.name}', which has {wanted}. See `foresail look`."
        raise InputError(msg)
    return tuple(found)
