"""`foresail evaluate`: judge the forecasts of patterns on held-out events, next to what else one would try."""

from pathlib import Path
from typing import Any

import click

from pipeline.cli.forecast_options import Asked, per_option, shared_options
from pipeline.progress import write_summary


@click.command()
@shared_options
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write evaluation.json to.")
@click.option("--folds", type=click.IntRange(1, 20), default=4, show_default=True, help="How many folds.")
@click.option(
    "--by",
    type=click.Choice(["time", "track"]),
    default="time",
    show_default=True,
    help="Test on later events of the same tracks, or on tracks never seen.",
)
@click.option("--orders", help="Orders to compare, as in 0,1,4; every order up to the catalog's if absent.")
@click.option("--within", help="Further events ahead, as in 5,30; a third and twice the catalog's if absent.")
@per_option
def command(
    asked: Asked,
    out: Path,
    folds: int,
    by: str,
    orders: str | None,
    within: str | None,
    per: str | None,
) -> None:
    """Judge forecasts: every order, learned features, mean waiting times and gradient boosting in one table."""
    from models.scoring.folds import By
    from pipeline.jobs.evaluate import EvaluateRequest, run_evaluate

    settings = asked.settings()
    request = EvaluateRequest(
        **asked.input(settings),
        out=out,
        folds=folds,
        by=By(by),
        orders=_numbers("--orders", orders) or None,
        within=_numbers("--within", within),
        per=per,
        settings=settings.forecasting,
    )
    _show(asked.run("evaluate", settings, run_evaluate, request), asked.as_json)


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        msg = f"{option} {text}: not a list of whole numbers. Write them as 0,1,4."
        raise click.UsageError(msg) from None


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from rich.console import Console
    from rich.table import Table

    title = (
        f"{summary['sampled_events']:,} of {summary['events']:,} events, {summary['folds']} folds by {summary['by']}"
    )
    head = ("pattern", "model", "within", "F1", "precision", "recall", "MCC", "AUC", "Brier", "calibration")
    table = Table(*head, title=title)
    for row in summary["rows"]:
        if row["fold"] == "all":
            names = ("f1", "precision", "recall", "mcc", "roc_auc", "brier", "calibration_error")
            scores = ("" if row[name] is None else f"{row[name]:.3f}" for name in names)
            table.add_row(row["pattern"], row["model"], str(row["within"]), *scores)
    console = Console()
    console.print(table)
    for name, reason in summary["skipped"].items():
        console.print(f"not evaluated: {name} ({reason})")
    console.print(f"written to {summary['report']}; {summary['seconds']:.1f} s")
    console.print(f"open this page in a browser: {summary['page']}", soft_wrap=True)
