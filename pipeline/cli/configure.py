"""`foresail configure`: turn a knob of a running line."""

from pathlib import Path
from typing import Any

import click

from foresail.pipeline.cli.options import output_options, settings_from, settings_options
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import open_progress, write_summary


@click.command()
@click.option("--pattern", help="The pattern that is meant.")
@click.option("--order", type=click.IntRange(0, 12), help="Serve a model of this order, built from the stored counts.")
@click.option("--model-version", help="Serve this model of the store.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="Least probability of a positive forecast.")
@click.option("--horizon", type=click.IntRange(1), help="How many events ahead a forecast may look.")
@click.option("--within", type=click.IntRange(1), help="How many events ahead a match counts.")
@click.option("--kind", type=click.Choice(["within", "interval", "most_likely"]), help="What a forecast says.")
@click.option("--enable/--disable", "enabled", default=None, help="Tell the pattern, or be silent about it.")
@click.option("--catalog", type=click.Path(path_type=Path), multiple=True, help="Use these catalog files from now on.")
@click.option("--reload-layers", is_flag=True, help="Read the layers file again.")
@click.option("--rules", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Of a line of rules: the "
              "rules (.tesla) that the set --pattern has from now on; --disable takes a set away.")  # fmt: skip
@click.option("--flush", is_flag=True, help="Release every event that waits to be put in order.")
@click.option("--message", help="Send this JSON as it is.")
@click.option("--wait", "wait_s", type=float, default=60.0, show_default=True, help="Seconds to wait for the reply.")
@settings_options
@output_options
def command(
    pattern: str | None,
    order: int | None,
    model_version: str | None,
    threshold: float | None,
    horizon: int | None,
    within: int | None,
    kind: str | None,
    enabled: bool | None,
    catalog: tuple[Path, ...],
    reload_layers: bool,
    rules: Path | None,
    flush: bool,
    message: str | None,
    wait_s: float,
    settings_file: Path | None,
    master: str | None,  # noqa: ARG001 - part of the shared options
    conf: tuple[str, ...],  # noqa: ARG001
    as_json: bool,
    quiet: bool,
) -> None:
    """Send a control message to a running line and show its reply; exit code 1 when it is refused."""
    from foresail.pipeline.stream.control.configure import Order, control_message, send

    settings = settings_from(settings_file)
    knobs = {"threshold": threshold, "horizon": horizon, "within": within, "kind": kind, "enabled": enabled}
    wanted = Order(pattern, order, model_version, knobs, catalog, reload_layers, flush, rules)
    if message is None and not wanted.says_something:
        msg = "name what to turn, such as --pattern P --threshold 0.3. See --help."
        raise click.UsageError(msg)
    progress = open_progress(quiet)
    text = message if message is not None else control_message(settings, wanted, progress)
    reply = send(settings, text, wait_s)
    _show(reply, as_json)
    if not reply["accepted"]:
        msg = f"refused: {reply['reason']}."
        raise InputError(msg)


def _show(reply: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(reply)
    elif reply["accepted"]:
        click.echo(f"accepted; holds from micro-batch {reply['batch']} on")
