"""From files to messages: which file is read how, and what becomes of a file that is not of the feed."""

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from pipeline.errors import InputError
from pipeline.sources.csv_lines import delimiter_of, fields_of, parse_csv
from pipeline.sources.feed import Feed, as_messages
from pipeline.sources.json_lines import explode_documents, is_document, looks_like_json, parse_json
from pipeline.sources.lines import read_documents, read_lines
from pipeline.sources.storage import SourceFile, first_line


@dataclass(frozen=True, slots=True)
class Reading:
    """Messages that are being read, what counts the rows as they come in, and the files that are not of the feed."""

    messages: DataFrame
    counts: tuple[Observation, ...]
    strangers: tuple[str, ...]

    def rows_in(self) -> int:
        """The rows that entered; known once the messages have been written."""
        return sum(int(count.get["rows"]) for count in self.counts)


def read_messages(spark: SparkSession, feed: Feed, files: list[SourceFile], tolerant: bool = False) -> Reading:
    """Every row of `files` as a message of `feed`; `tolerant` reads a damaged file as far as it goes."""
    counts: list[Observation] = []

    def counted(rows: DataFrame) -> DataFrame:
        count = Observation()
        counts.append(count)
        return rows.observe(count, F.count(F.lit(1)).alias("rows"))

    firsts = {file: first_line(spark, file) for file in files}
    parts, strangers = _parts(spark, feed, firsts, tolerant, counted)
    if strangers and not parts:
        _refuse(feed, strangers[0], firsts[strangers[0]])
    if strangers:
        lines = counted(read_lines(spark, strangers, tolerant)).withColumn("fault", F.lit("wrong_format"))
        parts.append(as_messages(lines, {}))
    messages = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    return Reading(messages, tuple(counts), tuple(file.name for file in strangers))


def _parts(spark, feed, firsts, tolerant, counted):  # type: ignore[no-untyped-def]
    if feed.carrier == "csv":
        return _csv_parts(spark, feed, firsts, tolerant, counted)
    raise NotImplementedError


def _csv_parts(spark, feed, firsts, tolerant, counted):  # type: ignore[no-untyped-def]
    groups: dict[tuple[str, str], list[SourceFile]] = {}
    strangers: list[SourceFile] = []
    for file, header in firsts.items():
        delimiter = delimiter_of(feed, header) if header.strip() else feed.delimiter
        if delimiter is None:
            strangers.append(file)
        else:
            groups.setdefault((header, delimiter), []).append(file)
    parts = [
        parse_csv(counted(read_lines(spark, group, tolerant).filter("line > 1")), feed, header, delimiter)
        for (header, delimiter), group in groups.items()
    ]
    return parts, strangers


def _refuse(feed: Feed, file: SourceFile, header: str) -> None:
    wanted = ", ".join(names[0] for names in feed.required)
    msg = (
        f"{file.name}: not a file of the feed '{feed.name}': needs the columns {wanted}, but begins with "
        f"'{header[:80]}'. Choose another --from."
    )
    raise InputError(msg)
