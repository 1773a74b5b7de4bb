"""`foresail why`: event by event why a pattern matched on a track, or did not."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from foresail.pipeline.cli.event_options import EventsGiven, PatternsGiven, event_options, pattern_options
from foresail.pipeline.errors import OptionError


@click.command()
@pattern_options
@event_options
@click.option("--track", required=True, help="The track to tell of.")
@click.option("--at", help="Tell of the events around this time, as 2024-05-01T12:00:00Z.")
@click.option("--instance", help="Of pattern families: the feature to tell of; the nearest one when not given.")
@click.option("--html", type=click.Path(path_type=Path), help="Also write it as a page with a drawing to click.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a pattern on standard output.")
def command(
    patterns: PatternsGiven,
    events: EventsGiven,
    track: str,
    at: str | None,
    instance: str | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Tell which conditions held on each event of a track, where the run stood, and why it ended; also of near misses.

    Here --pattern is the name of a pattern of --patterns, or, without these, its text.
    """
    chosen, patterns = _named(patterns)
    patterns.check()
    moment = _moment(at)
    if html is None:
        from foresail.pipeline.runtime.light_start import start_light

        start_light()
    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.fitting import OF_COMMANDS
    from foresail.pipeline.local.asking import explain_track
    from foresail.pipeline.local.explanation_words import as_json as told
    from foresail.pipeline.local.explanation_words import text_lines
    from foresail.pipeline.local.layers import layers_at_hand
    from foresail.pipeline.local.trying import read_source

    catalog = patterns.catalog()
    if chosen:
        catalog = Catalog(tuple(catalog[name] for name in chosen))
    read = read_source(events.source())
    for line in read.notes:
        click.echo(f"foresail: {line}", err=True)
    must_fit = patterns.by_name
    found = explain_track(
        catalog, read.events, track, layers_at_hand(patterns.layers), instance, not must_fit, ways_out=OF_COMMANDS
    )
    for n, why in enumerate(found):
        if as_json:
            click.echo(json.dumps(told(why, moment), ensure_ascii=False))
        else:
            click.echo("\n".join([*([""] if n else []), *text_lines(why, moment)]))
    if html is not None:
        from foresail.pipeline.reports.page import write_page
        from foresail.pipeline.reports.why_section import why_page

        html.parent.mkdir(parents=True, exist_ok=True)
        write_page(html, why_page(found))
        click.echo(f"{html}: written", err=as_json)


def _named(patterns: PatternsGiven) -> tuple[tuple[str, ...], PatternsGiven]:
    """With files or a domain given, --pattern chooses among their patterns by name."""
    from dataclasses import replace

    if (patterns.names or patterns.domain) and patterns.texts and not patterns.where:
        return patterns.texts, replace(patterns, texts=())
    return (), patterns


def _moment(at: str | None) -> datetime | None:
    if at is None:
        return None
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        msg = f"--at {at}: is no time. Write it as 2024-05-01T12:00:00Z."
        raise OptionError(msg) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
