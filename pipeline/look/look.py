"""A look at a file: its form, its columns, ten rows, what is doubtful, and how `foresail ingest` would read it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foresail.pipeline.look import known
from foresail.pipeline.look.guess import Domain, Guess, guess_columns, unit_by_motion
from foresail.pipeline.look.head import Head, Text, read_head, text_of
from foresail.pipeline.look.mapping import attribute_name, common_decimal, mapping_of, mapping_text
from foresail.pipeline.look.profile import Profile
from foresail.pipeline.look.tables import (
    MAGIC,
    NotReadableError,
    Table,
    csv_table,
    fixes_of,
    json_table,
    parquet_table,
    parsed_rows,
)
from foresail.pipeline.sources.mapped import Mapping

MAPPED = "mapped"
UNREAD_PACKINGS = ("xz", "tar")
ENDINGS = {"gzip": ".gz", "bzip2": ".bz2"}
BINARIES = {
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x89HDF": "an HDF5 or NetCDF file: export the positions as CSV or Parquet",
    b"CDF": "a NetCDF file: export the positions as CSV or Parquet",
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old Office file: save it as CSV",
    b"\x28\xb5\x2f\xfd": "packed by zstd: unpack it first",
    b"7z\xbc\xaf": "a 7-Zip archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"ORC": "an ORC file: save it as Parquet",
    b"Obj\x01": "an Avro file: save it as Parquet",
    b"<?xml": "XML: convert it to CSV",
    b"<gpx": "GPX: convert it to CSV",
    b"<html": "a web page",
    b"<!DOCTYPE html": "a web page: the download may have failed",
}


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """A column of the file and what it is taken for."""

    name: str
    role: str | None
    type: str
    filled: float
    examples: tuple[str, ...]
    unit: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What a file looks like."""

    head: Head
    kind: str
    """csv, json, geojson, parquet, nmea, gtfs_realtime, empty, text or binary."""
    says: str
    """The form in a few words."""
    encoding: str | None = None
    table: Table | None = None
    decimal: str | None = None
    feed: str | None = None
    """What --from fits: a known feed, `mapped` where a mapping does, None where nothing does."""
    domain: str | None = None
    columns: tuple[SeenColumn, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    doubts: tuple[str, ...] = ()
    """What was assumed and cannot be told from the head."""
    faults: tuple[str, ...] = ()
    """What keeps `foresail ingest` from reading it, each with the way out."""
    mapping: dict[str, Any] | None = None
    mapping_text: str | None = None
    lacking: tuple[str, ...] = ()
    """What a position needs and no column seems to be."""

    @property
    def readable(self) -> bool:
        """Whether `foresail ingest` reads the file as it is."""
        return self.feed is not None and not self.faults


def look_at(path: Path, now: datetime | None = None, domain: Domain | None = None, month_first: bool = False) -> Look:
    """What `path` looks like, from a bounded head of it."""
    head = read_head(path)
    looking = _Looking(head, now or datetime.now(UTC), domain, month_first)
    seen = looking.seen()
    damage = [f"damaged ({head.damage}): ingest reads as far as it goes."] if head.damage else []
    return replace(seen, faults=(*_packing_faults(head), *seen.faults), doubts=(*damage, *seen.doubts))


def _packing_faults(head: Head) -> list[str]:
    """What the packing keeps from being read."""
    faults = []
    unread = [packing for packing in head.packed if packing in UNREAD_PACKINGS]
    if unread:
        how = "tar xf" if "tar" in unread else "xz -dk"
        faults.append(
            f"packed by {' in '.join(reversed(unread))}, which ingest does not read: `{how} {head.path}` first"
        )
    outer = head.packed[0] if head.packed else None
    ending = ENDINGS.get(outer or "")
    if ending and head.path.suffix.lower() != ending:
        faults.append(f"packed by {outer} but not named {ending}, by which ingest knows it: rename it")
    return faults


@dataclass(frozen=True, slots=True)
class _Looking:
    head: Head
    now: datetime
    domain: Domain | None
    month_first: bool

    def seen(self) -> Look:
        head = self.head
        if not head.data.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
            blank = "empty" if not head.data else "nothing but blanks"
            return Look(head, "empty", blank, faults=(f"{blank}: there is nothing to read",))
        if head.data.startswith(MAGIC):
            return self._parquet()
        text = text_of(head)
        if text.binary:
            return self._binary()
        return self._textual(text)

    def _parquet(self) -> Look:
        try:
            table = parquet_table(self.head)
        except NotReadableError as error:
            return Look(self.head, "parquet", "Parquet", faults=(str(error),))
        feed = known.feed_of_fields(table.names, "parquet")
        return self._table(table, "parquet", f"Parquet with {_columns(table)}", feed)

    def _binary(self) -> Look:
        rows = known.gtfs_rows(self.head)
        if rows is not None:
            says = "a GTFS-realtime snapshot (protobuf)"
            return Look(self.head, "gtfs_realtime", says, feed="gtfs_realtime", domain="fleet", rows=tuple(rows))
        what = next((what for magic, what in BINARIES.items() if self.head.data.startswith(magic)), None)
        fault = f"not text: {what}" if what else "not text, and no form that is known here"
        return Look(self.head, "binary", f"binary ({what})" if what else "binary", faults=(fault,))

    def _textual(self, text: Text) -> Look:
        start = text.text.lstrip("\ufeff \t\r\n")
        markup = next(
            (what for sign, what in BINARIES.items() if sign[:1] == b"<" and start.startswith(sign.decode())), None
        )
        if markup:
            return Look(self.head, "text", f"text ({markup})", text.encoding, faults=(f"no table: {markup}",))
        faults, doubts = _text_troubles(text, self.head)
        if start.startswith(("{", "[")):
            seen = self._json(text.text)
        else:
            lines = known.nmea_lines(text.text)
            seen = self._nmea(lines) if lines else self._csv(text.text)
        return replace(seen, encoding=text.encoding, faults=(*faults, *seen.faults), doubts=(*doubts, *seen.doubts))

    def _json(self, text: str) -> Look:
        table = json_table(text)
        if table is None:
            fault = "begins as JSON, but the head holds no message that can be read"
            return Look(self.head, "json", "JSON", faults=(fault,))
        is_geo = any(name.startswith("geometry.") for name in table.names)
        feed = known.feed_of_fields(table.names, "json")
        if is_geo and feed is None:
            says = f"GeoJSON with {_columns(table)}: a layer?"
            fault = "no positions of a feed: name it in a layers file for `foresail enrich --layers` (docs/geo.md)"
            return Look(self.head, "geojson", says, table=table, faults=(fault,))
        return self._table(table, "json", f"JSON messages with {_columns(table)}", feed)

    def _nmea(self, lines: Sequence[str]) -> Look:
        if not known.has_ais(lines):
            fault = "no AIS sentence (!AIVDM) in the head: sentences of one's own receiver name no vessel"
            return Look(self.head, "nmea", "NMEA sentences, none of them AIS", faults=(fault,))
        rows, undated = known.nmea_rows(lines, self.head)
        doubts = [] if rows else ["no position among the first sentences."]
        if undated:
            doubts.append(
                "the sentences carry no time: they are dated from the file's own. "
                "Give ingest --policy received_at=TIME if you know when they came."
            )
        says = "NMEA sentences with AIS messages"
        return Look(self.head, "nmea", says, feed="nmea", domain="maritime", rows=tuple(rows), doubts=tuple(doubts))

    def _csv(self, text: str) -> Look:
        if "\n" not in text and "\r" not in text and not self.head.whole:
            fault = f"its first line is longer than {len(self.head.data):,} bytes: no table of lines"
            return Look(self.head, "text", "one long line", faults=(fault,))
        table = csv_table(text, self.head.whole)
        if table is None:
            first = text.strip().partition("\n")[0][:60].strip()
            fault = f"no delimiter cuts it into columns; it begins with '{first}'"
            return Look(self.head, "text", "text without columns", faults=(fault,))
        header = next((line for line in text.splitlines() if line.strip()), "").lstrip("\ufeff")
        feed = known.feed_of_csv(header, table.delimiter or ",") if table.header and not table.comments else None
        sign = {"\t": "tabs", " ": "blanks"}.get(table.delimiter or "", f"'{table.delimiter}'")
        return self._table(table, "csv", f"CSV cut by {sign} into {_columns(table)}", feed)

    def _table(self, table: Table, kind: str, says: str, feed: str | None) -> Look:
        profiles = [Profile(column, self.now, self.month_first) for column in table.columns()]
        guess = _with_speed_unit(guess_columns(profiles, table.header, self.domain), table, feed)
        decimal = common_decimal(profiles)
        seen = Look(
            self.head,
            kind,
            says + (" with decimal commas" if decimal == "," else ""),
            table=table,
            decimal=decimal,
            feed=feed,
            domain=guess.domain,
            columns=tuple(_seen_column(profile, guess) for profile in profiles),
            rows=tuple(parsed_rows(guess, table, _stem(self.head))),
            faults=tuple(_table_faults(table, guess, feed)),
            doubts=(*_table_doubts(table), *(() if feed else guess.doubts)),
            lacking=guess.lacking,
        )
        # a mapping needs a time and a track; without a place it still serves patterns on other attributes
        if "time" in guess.lacking:
            return seen
        mapping = mapping_of(guess, profiles, table, kind, attribute_name(_stem(self.head)))
        Mapping.model_validate(mapping)
        text = mapping_text(mapping, seen.doubts, self.head.path.name)
        usable = not guess.lacking
        return replace(seen, mapping=mapping, mapping_text=text, feed=feed or (MAPPED if usable else None))


def _text_troubles(text: Text, head: Head) -> tuple[list[str], list[str]]:
    faults, doubts = [], []
    if text.wide:
        faults.append(
            f"{text.encoding}, which ingest does not read: `iconv -f {text.encoding} -t UTF-8 {head.path} > NEW` first"
        )
    if text.nul_bytes:
        doubts.append(f"{text.nul_bytes:,} NUL bytes in the head: cells with one are no numbers or times.")
    if text.encoding == "Latin-1":
        doubts.append("not UTF-8: read as Latin-1, as ingest does; names may have wrong letters if it is another.")
    return faults, doubts


def _table_faults(table: Table, guess: Guess, feed: str | None) -> list[str]:
    faults = []
    if table.comments:
        faults.append(f"{table.comments} lines stand before the table: `tail -n +{table.comments + 1}` takes them off")
    if not table.rows:
        faults.append("a header and no rows")
    elif guess.lacking and feed is None:
        names = {"time": "a time", "lon": "a longitude", "lat": "a latitude"}
        faults.append(f"no column seems to be {' or '.join(names[role] for role in guess.lacking)}")
    return faults


def _table_doubts(table: Table) -> list[str]:
    doubts = []
    if table.ragged:
        doubts.append(f"{table.ragged:,} rows have more or fewer cells than the header: ingest rejects such rows.")
    if table.line_breaks:
        doubts.append(f"{table.line_breaks:,} rows have a line break inside quotes: ingest rejects such rows.")
    twice = sorted({name for name in table.names if table.names.count(name) > 1})
    if twice:
        doubts.append(f"columns named twice ({', '.join(twice[:5])}): only the first of each is read.")
    return doubts


def _with_speed_unit(guess: Guess, table: Table, feed: str | None) -> Guess:
    """The speed's unit, where its name does not tell it, from how far the positions are apart."""
    speed = next((column for column in guess.columns if column.role in ("speed_kn", "speed_kmh")), None)
    if speed is None or speed.unit:
        return guess
    if feed:  # the feed knows the unit, this guess does not
        return replace(guess, columns=tuple(column for column in guess.columns if column is not speed))
    moved = unit_by_motion(fixes_of(guess, table, speed.role))
    assumed = moved or ("kn" if speed.role == "speed_kn" else "km/h")
    columns = tuple(replace(column, unit=assumed) if column is speed else column for column in guess.columns)
    units = "kn, km/h, m/s or mph"
    doubt = (
        f"{speed.columns[0]}: its name tells no unit; {assumed} fits the distances between positions. Check `unit`."
        if moved
        else f"{speed.columns[0]}: the unit is unknown ({units}); {assumed} is assumed. Check `unit`."
    )
    return replace(guess, columns=columns, doubts=(*guess.doubts, doubt))


def _seen_column(profile: Profile, guess: Guess) -> SeenColumn:
    column = next((column for column in guess.columns if profile.name in column.columns), None)
    form = column.time if column else None
    return SeenColumn(
        profile.name,
        column.role if column else None,
        "time" if form else profile.kind,
        round(profile.share, 3),
        tuple(example[:60] for example in profile.examples),
        column.unit if column else None,
        form.pattern or form.kind if form else None,
    )


def _columns(table: Table) -> str:
    return f"{len(table.names)} columns" if len(table.names) != 1 else "1 column"


def _stem(head: Head) -> str:
    name = Path(head.member).name if head.member else head.path.name
    return re.sub(r"\..*$", "", name) or "file"
