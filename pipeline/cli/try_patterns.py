"""`foresail try`: patterns on a file of events in this process, without Java: writing a pattern as a conversation."""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foresail.pipeline.cli.event_options import EventsGiven, PatternsGiven, event_options, pattern_options
from foresail.pipeline.cli.faults import sentence_of

if TYPE_CHECKING:
    import pyarrow as pa

    from foresail.patterns.catalog.loader import Catalog
    from foresail.pipeline.local.trying import Tried

LOOK_EVERY_S = 0.3
MOST_SHOWN = 20


@click.command("try")
@pattern_options
@event_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row on standard output, and nothing else.")
@click.option("--watch", is_flag=True, help="Run again whenever a file of patterns or events changes.")
def command(patterns: PatternsGiven, events: EventsGiven, as_json: bool, watch: bool) -> None:
    """Find patterns in a file of events, here and now: no Java, an answer in about a second."""
    patterns.check()
    if not watch:
        _run(patterns, events, as_json)
        return
    files = [*patterns.files, *events.files]
    if not files:
        msg = "--watch: standard input and patterns of the command line do not change. Name files."
        raise click.UsageError(msg)
    _watch(files, lambda: _run(patterns, events, as_json))


def _run(patterns: PatternsGiven, events: EventsGiven, as_json: bool) -> None:
    from foresail.pipeline.runtime.light_start import start_light

    began = time.perf_counter()
    start_light()
    from foresail.pipeline.local.trying import try_patterns

    catalog = patterns.catalog(languages=True)
    if catalog.others:
        _run_language(catalog, events, as_json, began)
        return
    tried = try_patterns(catalog, events.source(), patterns.layers, patterns.by_name)
    for line in tried.notes:
        click.echo(f"foresail: {line}", err=True)
    if as_json:
        _write_rows(tried.matches)
    else:
        _show(tried, events, time.perf_counter() - began)


def _run_language(catalog: "Catalog", events: EventsGiven, as_json: bool, began: float) -> None:
    from foresail.pipeline.languages.runner import first_rows, runner_of
    from foresail.pipeline.reports.page import count_of

    runner = runner_of(catalog)
    assert runner is not None, "the catalog has entries in another language"
    found, results = runner.in_files(catalog, events.source()), runner.results
    for line in found.notes:
        click.echo(f"foresail: {line}", err=True)
    if as_json:
        _write_lines(results.json_lines(found.table))
        return
    _show_rows(first_rows(found, results, MOST_SHOWN), found.table.num_rows)
    for name, number in found.counts.items():
        click.echo(f"{name}: {count_of(number, results.one, results.name)}")
    click.echo(f"{count_of(found.events, 'event')}, {time.perf_counter() - began:.2f} s")


def _write_rows(matches: "pa.Table") -> None:
    from foresail.pipeline.results.json_rows import json_lines

    _write_lines(json_lines(matches))


def _write_lines(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _watch(files: list[Path], run: Callable[[], None]) -> None:
    """Run, and again when a file has changed; a fault is told, and the next change is waited for."""
    seen: dict[Path, Any] = {}
    while True:
        now = {file: _stamp(file) for file in files}
        if now != seen:
            seen = now
            try:
                run()
            except Exception as error:
                sentence = sentence_of(error)
                if sentence is None:
                    raise
                click.echo(f"foresail: {sentence}", err=True)
            click.echo(f"foresail: {time.strftime('%H:%M:%S')}, waiting for a change (Ctrl-C ends)", err=True)
        time.sleep(LOOK_EVERY_S)


def _stamp(file: Path) -> Any:
    try:
        held = [inner for inner in sorted(file.rglob("*")) if inner.is_file()] if file.is_dir() else [file]
        return tuple((str(inner), inner.stat().st_mtime_ns, inner.stat().st_size) for inner in held)
    except OSError:
        return None


def _show(tried: "Tried", events: EventsGiven, seconds: float) -> None:
    from foresail.pipeline.reports.page import count_of

    _show_rows(tried.first_rows(MOST_SHOWN), tried.matches.num_rows)
    for name, found in tried.counts.items():
        click.echo(f"{name}: {count_of(found.matches, 'match', 'matches')} on {count_of(found.tracks, 'track')}")
    silent = next((name for name, found in tried.counts.items() if not found.matches), None)
    if silent and tried.events:
        click.echo(f"why not? foresail why {events.as_typed} --pattern {silent} tells")
    click.echo(f"{count_of(tried.events, 'event')}, {seconds:.2f} s")


def _show_rows(rows: list[dict[str, str]], all_rows: int) -> None:
    if not rows:
        return
    columns = tuple(name for name in rows[0] if any(row[name] for row in rows))
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    click.echo("  ".join(f"{name:{widths[name]}}" for name in columns).rstrip())
    for row in rows:
        click.echo("  ".join(f"{row[name]:{widths[name]}}" for name in columns).rstrip())
    if all_rows > len(rows):
        click.echo(f"... {all_rows - len(rows):,} rows more; --json has all")
    click.echo("")
