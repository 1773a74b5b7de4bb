"""`foresail airflow`: where the schedules lie that come with the package."""

import click

from foresail.pipeline.cli.groups import Commands


@click.group(cls=Commands)
def command() -> None:
    """The schedules for Apache Airflow."""


@command.command()
def dags() -> None:
    """Print the folder of the schedules: what Airflow's `dags_folder` is to name, or a bundle to be linked to."""
    from foresail import HOME

    click.echo(HOME / "dags")
