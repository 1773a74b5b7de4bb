"""`foresail stream`: the live line, from a settings file."""

from pathlib import Path

import click

from foresail.pipeline.cli.options import output_options, settings_from, settings_options
from foresail.pipeline.progress import open_progress, write_summary


@click.command()
@click.option("--once", is_flag=True, help="Read what is there, then end.")
@click.option("--console", is_flag=True, help="Show matches and alerts on standard output.")
@click.option("--partitions", type=int, default=4, show_default=True, help="Of the topic of positions, if it is made.")
@click.option("--policy", "policies", multiple=True, metavar="KEY=VALUE", help="A choice of the cleaning; repeatable.")
@click.option("--no-warm-up", is_flag=True, help="Start at once; the first micro-batches are slow then.")
@settings_options
@output_options
def command(
    once: bool,
    console: bool,
    partitions: int,
    policies: tuple[str, ...],
    no_warm_up: bool,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Recognise, forecast and alert on events as they come, until stopped (Ctrl-C)."""
    from foresail.pipeline.preflight import check_layers
    from foresail.pipeline.reports.page import count_of
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.stages.policy import parse_policy
    from foresail.pipeline.stream.query.job import Stream, prepare_topics, stop_on_signals
    from foresail.pipeline.stream.query.query import live_catalog

    settings = settings_from(settings_file, master, conf)
    if console:
        settings = settings.model_copy(update={"stream": settings.stream.model_copy(update={"console": True})})
    policy = parse_policy(policies)
    progress = open_progress(quiet)
    if settings.stream.source == "kafka":
        prepare_topics(settings, partitions)
    catalog = live_catalog(settings.stream)
    check_layers(settings.layers.file)
    with running_spark(settings, "foresail stream", progress) as spark:
        stream = Stream(spark, settings, policy, progress)
        stop_on_signals(stream)
        if not no_warm_up:
            stream.warm_up()
        progress.say("running; Ctrl-C ends it after the micro-batch under way")
        summary = stream.run(once)
    if as_json:
        write_summary(summary)
    else:
        found = {"event": "events", "match": "matches", "alert": "alerts"}
        if catalog.others:
            found = {"event": "events", "composite": "composites"}
        counts = ", ".join(count_of(summary[many], one, many) for one, many in found.items())
        batches = count_of(summary["batches"], "micro-batch", "micro-batches")
        click.echo(f"{counts}, {summary['late']:,} late, {summary['rejected']:,} rejected in {batches}")
