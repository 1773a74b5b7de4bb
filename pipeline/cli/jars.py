"""`foresail jars`: fill the jar cache, so that every later start works offline."""

from pathlib import Path

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.cli.options import settings_from
from foresail.pipeline.progress import open_progress
from foresail.pipeline.runtime.class_archive import record
from foresail.pipeline.runtime.jars import ALL_JARS, SPARK_JARS, resolve


@click.command()
@click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="A YAML file of settings.")
@quiet_option
def command(settings_file: Path | None, quiet: bool) -> None:
    """Fetch the jars of Sedona, Spark's Kafka connector and the Kafka broker into the cache, once.

    Then record the classes that Spark loads, so that it starts quicker.
    """
    cache = settings_from(settings_file).jars.directory
    progress = open_progress(quiet)
    for jar_set in ALL_JARS:
        resolve(jar_set, cache, progress)
    record([jar for jar_set in SPARK_JARS for jar in resolve(jar_set, cache, progress)], progress)
