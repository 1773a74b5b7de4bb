"""Every scheme finds the same matches with the same ids, from every kind of source, for random catalogs."""

import json
from dataclasses import asdict
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import PatternError
from foresail.patterns.spec import AfterMatch, Output, Report, spec_of
from foresail.pipeline.batch.facts import prepare
from foresail.pipeline.batch.planner import Scheme
from foresail.pipeline.batch.running import Work, run_scheme
from foresail.pipeline.batch.skewed_tracks import long_tracks
from foresail.pipeline.batch.tally import EVENTS, MATCHES, ROWS, open_tally
from foresail.pipeline.sources.table import read_events
from foresail.pipeline.stages.layout import LAYOUT_FILE, Layout
from foresail.pipeline.stages.recognise import Recognise

pytestmark = pytest.mark.spark

WHERE = {"low": "x < 3", "high": "x >= 5 or word = 'go'", "odd": "x == 1 or x == 3", "fast": "v > 0.5 and low"}
SHAPES = ("{0} ; {1}+", "{0}{{2,}}", "any({0}, {1}, {2})", "next({0}, {1})", "{0} ; {1}* ; {2}", "({0} or {1}) ; {2}")


def random_catalog(random: Random, count: int) -> tuple[CompiledPattern, ...]:
    found: list[CompiledPattern] = []
    while len(found) < count:
        text = random.choice(SHAPES).format(*random.choices(list(WHERE), k=3))
        output = random.choice([Output.DETECT, Output.DETECT, Output.COUNT, Output.ENUMERATE])
        episodes = output is Output.DETECT and random.random() < 0.5
        rules = {
            "window_us": random.choice([None, 8_000_000]) if output is Output.DETECT else 6_000_000,
            "max_gap_us": random.choice([None, 5_000_000]),
            "after_match": random.choice(list(AfterMatch)),
            "output": output,
            "report": Report.EPISODES if episodes else Report.EACH,
            "min_dwell_us": random.choice([0, 2_000_000]) if episodes else 0,
        }
        try:
            found.append(compile_pattern(spec_of(f"p{len(found)}", text, WHERE, **rules)))  # type: ignore[arg-type]
        except PatternError:
            continue
    return tuple(found)


def random_events(random: Random, tracks: int, events: int) -> pa.Table:
    rows = []
    for track in range(tracks):
        now = 1_700_000_000_000_000
        for n in range(random.randint(1, 2 * events)):
            now += random.choice([0, 1, 1, 2, 9]) * 1_000_000
            rows.append(
                (f"t{track}", now, n, random.choice([None, *range(7)]), random.choice(["go", "stay", None]),
                 random.choice([None, float("nan"), random.random()]), random.uniform(-180, 180), n % 7 or None)
            )  # fmt: skip
    names = ("track", "time", "offset", "x", "word", "v", "lon", "lat")
    kinds = (
        pa.string(), pa.timestamp("us", tz="UTC"), pa.int64(), pa.int64(), pa.string(), pa.float64(), pa.float64(),
        pa.float64(),
    )  # fmt: skip
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, k) for n, c, k in zip(names, columns, kinds, strict=True)})


def laid_out(table: pa.Table, folder: Path, files: int) -> str:
    """The events in files of whole tracks, in order, with the note that says so."""
    folder.mkdir()
    ordered = table.sort_by([("track", "ascending"), ("time", "ascending"), ("offset", "ascending")])
    tracks = sorted(set(table["track"].to_pylist()))
    for n in range(files):
        mine = pa.array(tracks[n::files])
        pq.write_table(ordered.filter(pa.compute.is_in(ordered["track"], mine)), folder / f"part-{n}.parquet")
    note = Layout(files, len(table), len(tracks))
    (folder / LAYOUT_FILE).write_text(json.dumps(asdict(note)))
    return str(folder)


def shuffled(table: pa.Table, folder: Path, random: Random) -> str:
    """The events in any order, in files of several row groups."""
    folder.mkdir()
    order = list(range(len(table)))
    random.shuffle(order)
    mixed, half = table.take(pa.array(order)), len(table) // 2
    pq.write_table(mixed.slice(0, half), folder / "a.parquet", row_group_size=max(1, half // 3))
    pq.write_table(mixed.slice(half), folder / "b.parquet", row_group_size=max(1, half // 2))
    return str(folder)


def by_scheme(
    spark: SparkSession,
    path: str,
    patterns: tuple[CompiledPattern, ...],
    scheme: Scheme,
    folder: Path,
    own: bool = True,
    updates: bool = True,
) -> list[str]:
    """What is written, a line per match; `own` is unset to let Spark read the events."""
    stage, events = Recognise(patterns), read_events(spark, [path]).good
    tally = open_tally(spark.sparkContext)
    prepared = prepare([path], events, stage, scheme, as_read=own)
    assert (prepared.source is not None) == own
    folder.mkdir()
    work = Work(stage, events, prepared.source, str(folder), tally, updates=updates)
    written = run_scheme(work, prepared.choice)
    rows = spark.read.parquet(str(folder)).collect() if written else []
    assert len(rows) == written == sum(n for (kind, _), n in tally.value.items() if kind == ROWS)
    matches = sum(n for (kind, _), n in tally.value.items() if kind == MATCHES)
    assert matches == len({row["match_id"] for row in rows}), "the rows of an episode are one match"
    assert tally.value[EVENTS, ""] == events.count()
    return sorted(map(repr, rows))


@pytest.mark.parametrize("seed", [1, 2])
def test_schemes_agree_to_the_match_id(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    patterns = random_catalog(random, 7)
    table = random_events(random, tracks=9, events=60)
    whole, mixed = laid_out(table, tmp_path / "whole", files=3), shuffled(table, tmp_path / "mixed", random)
    expected = sorted(map(repr, read_events(spark, [mixed]).good.transform(Recognise(patterns)).collect()))
    assert len(expected) > 50
    runs = [(whole, scheme, True) for scheme in Scheme if scheme is not Scheme.AUTO]
    runs += [(mixed, Scheme.PARTITION, True), (mixed, Scheme.PATTERN, True), (mixed, Scheme.COMBINED, False)]
    for n, (path, scheme, own) in enumerate(runs):
        assert by_scheme(spark, path, patterns, scheme, tmp_path / str(n), own) == expected, (scheme, path, own)


def test_changes_of_episodes_alone_are_all_rows_but_the_updates(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(5)
    patterns = random_catalog(random, 7)
    table = random_events(random, tracks=5, events=60)
    whole, mixed = laid_out(table, tmp_path / "whole", files=2), shuffled(table, tmp_path / "mixed", random)
    rows = read_events(spark, [mixed]).good.transform(Recognise(patterns)).collect()
    expected = sorted(repr(row) for row in rows if row.status != "updated")
    assert 0 < len(expected) < len(rows)
    runs = [(whole, Scheme.SOURCE, True), (mixed, Scheme.PARTITION, True), (mixed, Scheme.PARTITION, False)]
    for n, (path, scheme, own) in enumerate(runs):
        found = by_scheme(spark, path, patterns, scheme, tmp_path / str(n), own, updates=False)
        assert found == expected, (scheme, path, own)


def test_a_long_track_shared_in_slices_shows_the_same(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(5)
    patterns = random_catalog(random, 9)
    assert {pattern.spec.output for pattern in patterns} > {Output.DETECT}
    table = random_events(random, tracks=3, events=900)
    half = pa.compute.if_else(pa.compute.equal(table["track"], "t0"), "t0", "t1")
    table = table.set_column(0, "track", half)
    path = shuffled(table, tmp_path / "mixed", random)
    expected = sorted(map(repr, read_events(spark, [path]).good.transform(Recognise(patterns)).collect()))
    stage, events = Recognise(patterns), read_events(spark, [path]).good
    prepared = prepare([path], events, stage, Scheme.PARTITION, as_read=True)
    assert prepared.source is not None
    slices = long_tracks(prepared.source, buckets=2, least=100)
    assert [len(cuts) for cuts in slices.values()] == [3] * len(slices) != []
    tally = open_tally(spark.sparkContext)
    (tmp_path / "out").mkdir()
    work = Work(stage, events, prepared.source, str(tmp_path / "out"), tally, slices=slices)
    run_scheme(work, prepared.choice)
    assert sorted(map(repr, spark.read.parquet(str(tmp_path / "out")).collect())) == expected
    assert tally.value[EVENTS, ""] == len(table)
    assert sum(n for (kind, _), n in tally.value.items() if kind == ROWS) == len(expected)


def many_events(seed: int, tracks: int, rows: int) -> pa.Table:
    """The like of `random_events`, a column at a time."""
    random = np.random.default_rng(seed)
    track = np.sort(random.integers(0, tracks, rows))
    steps = random.choice([0, 1, 1, 2, 9], rows) * 1_000_000
    x, word, v = random.integers(0, 8, rows), random.integers(0, 3, rows), random.random(rows)
    return pa.table(
        {
            "track": pa.array(np.char.add("t", track.astype(str))),
            "time": pa.array(1_700_000_000_000_000 + np.cumsum(steps)).cast(pa.timestamp("us", tz="UTC")),
            "offset": pa.array(np.arange(rows)),
            "x": pa.array(x, mask=x == 7),
            "word": pa.DictionaryArray.from_arrays(pa.array(word, mask=word == 2), ["go", "stay"]).cast(pa.string()),
            "v": pa.array(np.where(v < 0.2, np.nan, v), mask=v > 0.9, from_pandas=False),
            "lon": pa.array(random.uniform(-180, 180, rows)),
            "lat": pa.array(random.uniform(-90, 90, rows)),
        }
    )


def as_one_track(table: pa.Table, share: float) -> pa.Table:
    """The same events, the later ones all of one track."""
    others = round((1 - share) * len(table))
    names = pa.concat_arrays([table["track"].combine_chunks()[:others], pa.array(["long"] * (len(table) - others))])
    return table.set_column(0, "track", names)


def cut_and_whole(
    spark: SparkSession, path: str, patterns: tuple[CompiledPattern, ...], folder: Path
) -> tuple[list[tuple[int, int]], list[str]]:
    """Digests of what is written with long tracks cut and with all tracks whole, and what was said meanwhile."""
    stage, events = Recognise(patterns), read_events(spark, [path]).good
    prepared = prepare([path], events, stage, Scheme.PARTITION, as_read=True)
    assert prepared.source is not None
    digests, said = [], list[str]()
    for n, slices in enumerate((long_tracks(prepared.source, buckets=2, least=100_000), {})):
        assert list(slices) == ["long"][n:]
        out, tally = folder / f"out-{n}", open_tally(spark.sparkContext)
        out.mkdir()
        work = Work(stage, events, prepared.source, str(out), tally, slices=slices, say=said.append)
        found = run_scheme(work, prepared.choice)
        digests.append(digest(spark.read.parquet(str(out)).drop("registers")))
        assert (found, tally.value[EVENTS, ""]) == (digests[-1][0], prepared.source.rows)
        assert sum(count for (kind, _), count in tally.value.items() if kind == ROWS) == found
    return digests, said


def test_slices_that_write_for_themselves_show_the_same(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(5)
    patterns = random_catalog(random, 9)
    assert {pattern.spec.output for pattern in patterns} > {Output.DETECT}
    path = shuffled(as_one_track(many_events(3, tracks=50, rows=600_000), 0.8), tmp_path / "mixed", random)
    (cut, whole), said = cut_and_whole(spark, path, patterns, tmp_path)
    assert cut == whole
    assert whole[0] > 100_000
    assert not said, "most of each slice was shown by itself"


def test_a_track_with_a_pattern_that_never_forgets_is_run_again_whole(spark: SparkSession, tmp_path: Path) -> None:
    table = as_one_track(many_events(3, tracks=50, rows=600_000), 0.8)
    x = np.where(np.arange(len(table)) == 120_001, 1, 6)  # one event begins what all others complete
    path = shuffled(table.set_column(3, "x", pa.array(x)), tmp_path / "mixed", Random(1))
    waits = compile_pattern(spec_of("waits", "any(odd, high)", WHERE))
    (cut, whole), said = cut_and_whole(spark, path, (waits,), tmp_path)
    assert cut == whole
    assert [line.partition(":")[0] for line in said] == ["track long"]


def test_schemes_agree_on_a_million_events(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(14)
    patterns = random_catalog(random, 8)
    assert {pattern.spec.output for pattern in patterns} == set(Output)
    table = many_events(7, tracks=1000, rows=1_000_000)
    whole, mixed = laid_out(table, tmp_path / "whole", files=4), shuffled(table, tmp_path / "mixed", random)
    runs = [(whole, scheme, True) for scheme in (Scheme.SOURCE, Scheme.PATTERN, Scheme.COMBINED)]
    runs += [(mixed, Scheme.PARTITION, True), (mixed, Scheme.PARTITION, False)]
    digests = []
    for n, (path, scheme, own) in enumerate(runs):
        folder = tmp_path / str(n)
        folder.mkdir()
        stage, events = Recognise(patterns), read_events(spark, [path]).good
        prepared = prepare([path], events, stage, scheme, as_read=own)
        assert (prepared.choice.scheme, prepared.source is not None) == (scheme, own)
        run_scheme(Work(stage, events, prepared.source, str(folder)), prepared.choice)
        digests.append(digest(spark.read.parquet(str(folder)).drop("registers")))
    assert len(set(digests)) == 1, [*zip(runs, digests, strict=True)]
    assert digests[0][0] > 500_000


def digest(matches: DataFrame) -> tuple[int, int]:
    """How many rows there are, and a sum over all columns of all rows, the id first, in any order."""
    every = F.xxhash64(*matches.columns).cast("decimal(20,0)")
    rows, total = matches.agg(F.count("*"), F.sum(every)).collect()[0]
    return int(rows), int(total)
