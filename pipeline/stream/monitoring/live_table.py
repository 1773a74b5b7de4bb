"""The live table of `foresail stream`: the figures that tell at a glance whether the line keeps up."""

from typing import TYPE_CHECKING

from foresail.pipeline.stream.monitoring.metrics import Metrics

if TYPE_CHECKING:
    from rich.table import Table


def live_table(metrics: Metrics, running_s: float) -> "Table":
    """The figures of now."""
    from rich.table import Table  # noqa: PLC0415 - only where a table is drawn

    gauges, totals = dict(metrics.gauges), dict(metrics.totals)

    def gauge(name: str) -> float:
        return gauges.get((name,), 0.0)

    lag = gauges.get(("lag_messages",))
    table = Table(title=f"foresail stream, running for {_clock(running_s)}", title_justify="left", min_width=72)
    for name in ("", "now", "", "in all"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_row(
        "events/s", f"{gauge('processed_rows_per_second'):,.0f}", "events", f"{totals.get(('events_total',), 0):,}"
    )
    table.add_row("batch, s", f"{gauge('batch_seconds'):.2f}", "batches", f"{gauges.get(('batch',), -1) + 1:,.0f}")
    table.add_row("lag, messages", _or_unknown(lag), "alerts", f"{totals.get(('alerts_total',), 0):,}")
    table.add_row("tracks at hand", f"{gauge('tracks'):,.0f}", "late", f"{totals.get(('late_total',), 0):,}")
    table.add_row("runs", f"{gauge('runs'):,.0f}", "read again", f"{totals.get(('rerun_total',), 0):,}")
    table.add_row("waiting", f"{gauge('waiting_events'):,.0f}", "rejected", f"{totals.get(('rejected_total',), 0):,}")
    table.add_row(
        "state, MB",
        f"{gauge('state_bytes') / 1e6:,.1f}",
        "control",
        f"{sum(metrics.by_label('control_messages_total').values()):,}",
    )
    table.add_section()
    matches, forecasts = metrics.by_label("matches_total"), metrics.by_label("forecasts_total")
    for pattern in sorted({*matches, *forecasts}):
        f1 = gauges.get(("score", pattern, "f1"))
        table.add_row(
            pattern,
            f"F1 {f1:.2f}" if f1 is not None else "",
            f"{forecasts.get(pattern, 0):,} forecasts",
            f"{matches.get(pattern, 0):,} matches",
        )
    return table


def _or_unknown(figure: float | None) -> str:
    return "?" if figure is None else f"{figure:,.0f}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
