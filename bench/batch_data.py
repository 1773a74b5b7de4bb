"""The events of `bench.batch`: one simulated and enriched fleet, repeated under other track names, kept in a cache.

Two foldersful of the same events: `by-track` is laid out by track as `simulate`, `ingest` and `enrich` write it,
`by-time` is in the order of arrival, as a receiver would write it.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from foresail.pipeline.jobs.enrich import EnrichOrder, enrich_events
from foresail.pipeline.progress import SILENT, Progress
from foresail.pipeline.settings import cache_home
from foresail.pipeline.simulator.job import simulate
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.stages.layout import LAYOUT_FILE, Layout

CACHE = cache_home() / "foresail" / "bench"
TRACKS, DAYS = 500, 1.4
ROWS_PER_FILE = 1_250_000
MOST_AT_ONCE = 10
"""Million events that are made in memory."""


@dataclass(frozen=True)
class Data:
    """Where the events of one size lie."""

    by_track: Path
    by_time: Path
    rows: int
    layers: Path


def simulated(spark: SparkSession, domain: str, progress: Progress) -> Path:
    """The events of one simulated fleet with the attributes of its layers; made once."""
    fleet, enriched = CACHE / f"{domain}-sim", CACHE / domain
    if not (enriched / "events").is_dir():
        simulate(spark, SimulationSettings(domain=domain, tracks=TRACKS, days=DAYS), fleet, progress)
        enrich_events(spark, EnrichOrder(str(fleet), layers_of(domain), enriched, CACHE / "layers"), progress)
    return enriched / "events"


def layers_of(domain: str) -> Path:
    """The layers file of the simulated fleet."""
    return CACHE / f"{domain}-sim" / "layers" / "layers.yaml"


def ports_layer(count: int) -> Path:
    """A layers file of `count` ports: those of the simulated fleet's region, then places on its simulated coast."""
    folder = CACHE / f"ports-{count}"
    file = folder / "layers.yaml"
    if file.exists():
        return file
    source = layers_of("maritime").parent
    ports = json.loads((source / "ports.geojson").read_text())
    coast = json.loads((source / "coast.geojson").read_text())["features"]
    corners = sorted({tuple(corner) for feature in coast for corner in _corners(feature["geometry"]["coordinates"])})
    further = corners[:: max(1, len(corners) // max(1, count - len(ports["features"])))]
    ports["features"] = [*ports["features"], *(_place(n, corner) for n, corner in enumerate(further))][:count]
    assert len(ports["features"]) == count, "the coast has corners enough"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.geojson").write_text(json.dumps(ports))
    file.write_text("layers: [{name: ports, kind: port, file: ports.geojson, name_column: name, radius_m: 3000}]\n")
    return file


def _corners(coordinates: list[Any]) -> Iterator[list[float]]:
    if isinstance(coordinates[0], float | int):
        yield coordinates
    else:
        for part in coordinates:
            yield from _corners(part)


def _place(number: int, corner: tuple[float, ...]) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"name": f"Place {number}", "code": f"P{number}"},
        "geometry": {"type": "Point", "coordinates": list(corner)},
    }


def data(spark: SparkSession, domain: str, millions: float, progress: Progress) -> Data:
    """So many million events, both ways; made once."""
    folder = CACHE / f"{domain}-{millions:g}M"
    done = folder / "rows.json"
    if not done.exists():
        source = simulated(spark, domain, progress)
        shutil.rmtree(folder, ignore_errors=True)
        with progress.step(f"repeating {domain} events up to {millions:g} million"):
            if millions > MOST_AT_ONCE:
                rows = _double(data(spark, domain, millions / 2, progress), folder)
            else:
                rows = _write(source, folder, round(millions * 1e6))
        done.write_text(json.dumps({"rows": rows}))
    rows = json.loads(done.read_text())["rows"]
    return Data(folder / "by-track", folder / "by-time", rows, layers_of(domain))


def skewed(spark: SparkSession, millions: float, share: float) -> Data:
    """As many events in order of arrival, so many of them of one track: others' events, one after the other."""
    plain = data(spark, "maritime", millions, SILENT)
    folder = CACHE / f"maritime-skewed-{share:g}-{millions:g}M"
    if not folder.is_dir():
        staging = folder.with_name(f".{folder.name}")
        shutil.rmtree(staging, ignore_errors=True)
        whole = pq.read_table(plain.by_track)
        others = round((1 - share) * len(whole))
        first, second = whole.slice(0, others), whole.slice(others)
        micros = second["time"].cast(pa.int64()).to_numpy()
        steps = np.maximum(np.diff(micros, prepend=micros[:1]), 0)
        times = pa.array(micros[0] + np.cumsum(steps)).cast(second["time"].type)
        named = second.set_column(0, "track", pa.array(["long"] * len(second)))
        both = pa.concat_tables([first, named.set_column(1, "time", times)])
        ordered = both.sort_by([("time", "ascending"), ("track", "ascending"), ("offset", "ascending")])
        _write_files(ordered, staging / "by-time", [*range(0, len(ordered), ROWS_PER_FILE), len(ordered)])
        staging.rename(folder)
    return Data(folder / "by-track", folder / "by-time", plain.rows, plain.layers)


def _write(source: Path, folder: Path, rows: int) -> int:
    base = pq.read_table(source)
    base = base.cast(pa.schema([_plain(field) for field in base.schema]))
    base = base.sort_by([("track", "ascending"), ("time", "ascending"), ("offset", "ascending")])
    whole = pa.concat_tables(_tiles(base, rows))
    _write_files(whole, folder / "by-track", _cuts_between_tracks(whole))
    layout = Layout(len(list((folder / "by-track").iterdir())), len(whole), _tracks(whole), hash="by range of track")
    (folder / "by-track" / LAYOUT_FILE).write_text(json.dumps(asdict(layout)))
    by_time = whole.sort_by([("time", "ascending"), ("track", "ascending"), ("offset", "ascending")])
    _write_files(by_time, folder / "by-time", [*range(0, len(whole), ROWS_PER_FILE), len(whole)])
    return len(whole)


def _double(half: Data, folder: Path) -> int:
    """Twice the events of `half`, file by file: more than fits into memory at once."""
    for kind in (half.by_track, half.by_time):
        target = folder / kind.name
        target.mkdir(parents=True)
        for copy in ("a", "b"):
            for file in sorted(kind.glob("*.parquet")):
                part = pq.read_table(file)
                name = pc.binary_join_element_wise(copy, part["track"], "-")
                part = part.set_column(part.schema.get_field_index("track"), "track", name)
                pq.write_table(part, target / f"{copy}-{file.name}", compression="zstd", row_group_size=len(part))
    layout = json.loads((half.by_track / LAYOUT_FILE).read_text())
    twice = {key: 2 * layout[key] for key in ("files", "rows", "tracks")}
    (folder / half.by_track.name / LAYOUT_FILE).write_text(json.dumps(layout | twice))
    return 2 * half.rows


def _plain(field: pa.Field) -> pa.Field:
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def _tiles(base: pa.Table, rows: int) -> Iterator[pa.Table]:
    copies = -(-rows // len(base))
    for copy in range(copies):
        tile = base.slice(0, min(len(base), rows - copy * len(base)))
        name = pc.binary_join_element_wise(f"{copy:03d}", tile["track"], "-")
        yield tile.set_column(tile.schema.get_field_index("track"), "track", name)


def _tracks(whole: pa.Table) -> int:
    return int(pc.count_distinct(whole["track"]).as_py())


def _cuts_between_tracks(whole: pa.Table) -> list[int]:
    track = whole["track"].combine_chunks()
    cuts = [0]
    while len(whole) - cuts[-1] > ROWS_PER_FILE:
        place = cuts[-1] + ROWS_PER_FILE
        while track[place].as_py() == track[place - 1].as_py():
            place -= 1
        cuts.append(place)
    return [*cuts, len(whole)]


def _write_files(whole: pa.Table, folder: Path, cuts: list[int]) -> None:
    folder.mkdir(parents=True)
    for n, (first, end) in enumerate(pairwise(cuts)):
        part = whole.slice(first, end - first)
        pq.write_table(part, folder / f"part-{n:05d}.parquet", compression="zstd", row_group_size=len(part))
