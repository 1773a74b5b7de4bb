"""`foresail evaluate`: judge the forecasts of patterns on held-out events, next to what else one would try."""

from pathlib import Path
from typing import Any

import click

from foresail.pipeline.cli.options import SharedOptions, end_failed_if_rejected, per_option, shared_options
from foresail.pipeline.progress import write_summary

SCORES = {
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
    "MCC": "mcc",
    "AUC": "roc_auc",
    "Brier": "brier",
    "calibration": "calibration_error",
}
LEAST = ("calibration", "Brier", "AUC", "MCC", "recall", "precision")
"""Columns in the order in which a narrow terminal does without them."""


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
    asked: SharedOptions,
    out: Path,
    folds: int,
    by: str,
    orders: str | None,
    within: str | None,
    per: str | None,
) -> None:
    """Judge forecasts: every order, learned features, mean waiting times and gradient boosting in one table."""
    from foresail.models.scoring.thresholds import By
    from foresail.pipeline.jobs.evaluate import EvaluateRequest, run_evaluate

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
    summary = asked.run("evaluate", settings, run_evaluate, request, out)
    _show(summary, asked.as_json)
    end_failed_if_rejected(summary, settings)


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        msg = f"{option} {text}: not a list of whole numbers. Write them as 0,1,4."
        raise click.UsageError(msg) from None


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    scores = ("" if row[name] is None else f"{row[name]:.3f}" for name in SCORES.values())
    return row["pattern"], row["model"], str(row["within"]), *scores


def _compared(one: dict[str, Any]) -> str:
    better = "better" if one["f1"] >= 0 else "worse"
    low, high = sorted((one["low"], one["high"]) if one["f1"] >= 0 else (-one["low"], -one["high"]))
    return (
        f"{one['pattern']}: {one['model']} is {better} than {one['against']} by {abs(one['f1']):.3f} of F1, "
        f"95% interval {low:.3f} to {high:.3f}"
    )


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_summary(summary)
        return
    from foresail.pipeline.cli.tables import print_table, result_console
    from foresail.pipeline.fitting import left_out_lines

    title = (
        f"{summary['sampled_events']:,} of {summary['events']:,} events, {summary['folds']} folds by {summary['by']}"
    )
    console = result_console()
    rows = [_cells(row) for row in summary["rows"] if row["fold"] == "all"]
    print_table(console, ("pattern", "model", "within", *SCORES), rows, LEAST, title)
    for one in summary["differences"]:
        console.print(_compared(one), markup=False, soft_wrap=True)
    for line in left_out_lines(summary["skipped"]):
        console.print(f"not evaluated: {line}", markup=False)
    console.print(f"written to {summary['report']}; {summary['seconds']:.1f} s")
    console.print(f"open this page in a browser: {summary['page']}", soft_wrap=True)
