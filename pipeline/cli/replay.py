"""`foresail replay`: a recorded stream into Kafka, at a multiple of real time or as fast as possible."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from foresail.pipeline.cli.options import (
    end_failed_if_rejected,
    output_options,
    reasons_warning,
    settings_from,
    settings_options,
    time_unit_option,
)
from foresail.pipeline.errors import OptionError
from foresail.pipeline.progress import open_progress, write_summary


@click.command()
@click.option(
    "--events", multiple=True, required=True, help="Parquet, CSV or JSON lines with track and time; repeatable."
)
@click.option("--to-topic", "topic", help="The topic to write to; that of the live line when not given.")
@click.option("--bootstrap", help="host:port of the broker; kafka.bootstrap_servers when not given.")
@click.option(
    "--speed", type=click.FloatRange(0, min_open=True), help="Times real time; as fast as possible if absent."
)
@click.option("--from", "first", help="Leave out events before this time (ISO 8601).")
@click.option("--to", "last", help="Leave out events from this time on.")
@click.option(
    "--jitter", type=click.FloatRange(0), default=0.0, show_default=True, help="Delay events by up to S seconds."
)
@click.option(
    "--duplicates", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of events sent twice."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of jitter and duplicates.")
@click.option(
    "--partitions", type=click.IntRange(1), default=4, show_default=True, help="Of the topic, where it is made."
)
@click.option("--max-lag", type=click.IntRange(0), help="Wait while the reader is more events than this behind.")
@click.option("--group", help="The reader's consumer group, for --max-lag.")
@click.option("--checkpoint", type=click.Path(path_type=Path), help="The checkpoint of a live line, for --max-lag.")
@time_unit_option
@settings_options
@output_options
def command(
    events: tuple[str, ...],
    topic: str | None,
    bootstrap: str | None,
    speed: float | None,
    first: str | None,
    last: str | None,
    jitter: float,
    duplicates: float,
    seed: int,
    partitions: int,
    max_lag: int | None,
    group: str | None,
    checkpoint: Path | None,
    time_unit: str | None,
    settings_file: Path | None,
    master: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Send recorded events again, keyed by track, in the order of their times."""
    from foresail.pipeline.runtime.session import running_spark
    from foresail.pipeline.sources.table import check_paths
    from foresail.pipeline.stream.monitoring.lag import Reader
    from foresail.pipeline.stream.replay import ReplayRequest, run_replay

    settings = settings_from(settings_file, master, conf)
    request = ReplayRequest(
        events=events,
        topic=topic or settings.stream.topics.positions,
        servers=_servers(bootstrap or settings.kafka.bootstrap_servers),
        speed=speed,
        first=_time("--from", first),
        last=_time("--to", last),
        jitter_s=jitter,
        duplicates=duplicates,
        seed=seed,
        partitions=partitions,
        reader=Reader(group, checkpoint) if group or checkpoint else None,
        most_lag=max_lag,
        time_unit=time_unit,
    )
    progress = open_progress(quiet)
    check_paths(events)
    with running_spark(settings, "foresail replay", progress) as spark:
        summary = run_replay(spark, request, progress)
    summary |= reasons_warning(summary, events, settings)
    _show(summary, as_json)
    end_failed_if_rejected(summary, settings)


def _servers(servers: str | None) -> str:
    if servers:
        return servers
    msg = "no broker is named. Write --bootstrap host:port, or set kafka.bootstrap_servers."
    raise click.UsageError(msg)


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        msg = f"{option} {text}: not a time. Write for example {option} 2024-05-01T12:00:00Z."
        raise OptionError(msg) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    click.echo(
        f"{summary['events']:,} events and {summary['duplicates']:,} duplicates into {summary['topic']} "
        f"in {summary['seconds']:,.1f} s ({summary['events_per_second']:,}/s)"
    )
