"""`foresail jars`: fill the jar cache, so that every later start works offline."""

from pathlib import Path

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.cli.options import settings_from
from foresail.pipeline.progress import open_progress
from foresail.pipeline.runtime.jars import ALL_JARS, resolve


@click.command()
@click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="A YAML file of settings.")
@quiet_option
def command(settings_file: Path | None, quiet: bool) -> None:
    """Fetch the jars of Sedona, Spark's Kafka connector and the Kafka broker into the cache, once."""
    cache = settings_from(settings_file).jars.directory
    for jar_set in ALL_JARS:
        resolve(jar_set, cache, open_progress(quiet))
