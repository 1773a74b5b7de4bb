"""What one worker does with the same files to recognise, to count and to forecast `port_entry`: seconds of CPU.

    .venv/bin/python -m bench.forecast_worker --events DIR --layers FILE --models DIR

Without Spark: files are read, the near ports found, conditions evaluated, and then the kernels run, as in a worker.
CPU time of one thread is measured, so that other work on the machine matters less.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from foresail.geo import read_layers
from foresail.models.features import with_features
from foresail.models.scoring.report import LearnedFeature
from foresail.models.store import ModelStore
from foresail.patterns.catalog.loader import built_in_catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import without_features
from foresail.pipeline.batch.families import Family, family_groups
from foresail.pipeline.batch.forecast_worker import BeginForecasting, ServingModels
from foresail.pipeline.batch.parquet_reader import read_piece
from foresail.pipeline.batch.parquet_source import ParquetSource, parquet_source
from foresail.pipeline.batch.workers import Search, left_out
from foresail.pipeline.settings import read_settings
from foresail.pipeline.training.count import BeginCounting

PATTERN = "port_entry"
LAYER = "ports"
RUNS = 3


def rows_for(events: Path, layers: dict[str, Any], pattern: CompiledPattern) -> Iterator[EventBatch]:
    """The events as a worker reads them for this pattern: with the near ports and the condition words."""
    (group,) = family_groups([Family(built_in_catalog()[PATTERN], pattern)], layers)
    assert group.layer is not None, "ports are points, which workers find themselves"
    source = parquet_source([str(events)], ("speed_kn", "lon", "lat"), str(events))
    assert isinstance(source, ParquetSource), source
    reading = Search((), {group.name: (pattern,)}, (group.layer,), places=True).reading(offsets=False)
    for piece in source.pieces:
        yield from read_piece(piece, reading, left_out(None))


def cpu_seconds(run: Callable[[], None]) -> float:
    """The least of RUNS."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=Path, required=True)
    parser.add_argument("--layers", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    entry = built_in_catalog()[PATTERN]
    layers = {
        layer.spec.name: layer
        for layer in read_layers(options.layers, read_settings().layers.directory, lambda _: None)
    }
    model = ModelStore(options.models).load(PATTERN)
    plain = compile_pattern(without_features(entry.spec()))
    learned = compile_pattern(
        with_features(plain.spec, [LearnedFeature(n, t, 0, 0.0) for n, t in model.header.identity.features])
    )

    def recognise() -> None:
        recogniser = Search((), {LAYER: (plain,)}).recogniser()
        for events in rows_for(options.events, layers, plain):
            list(recogniser.advance(events))

    def forecast() -> None:
        asked = ServingModels((model,), shared_conditions((learned,)))
        walk = BeginForecasting(ServingModels((), ()), {LAYER: asked}, "positive")()
        for rows in rows_for(options.events, layers, learned):
            list(walk.advance(rows))

    def count() -> None:
        walk = BeginCounting((), {LAYER: (learned,)}, 8)()
        for rows in rows_for(options.events, layers, learned):
            list(walk.advance(rows))
        list(walk.finish())

    seconds = {job.__name__: cpu_seconds(job) for job in (recognise, forecast, count)}
    told = {
        "seconds": seconds,
        "forecast_to_recognise_throughput": seconds["recognise"] / seconds["forecast"],
        "count_to_recognise": seconds["count"] / seconds["recognise"],
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "forecast_worker.json").write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
