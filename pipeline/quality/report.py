"""The quality report: `quality.json` for tools, `quality.html` for people, one page that needs nothing else."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from foresail.pipeline.quality.charts import bars, bucket_labels, coverage_map, duration
from foresail.pipeline.quality.measure import Measures
from foresail.pipeline.reports.words import count_of
from foresail.pipeline.sinks.output_folder import replaced
from foresail.pipeline.sources.repairs import REPAIRS
from foresail.pipeline.stages.clean import REASONS
from foresail.pipeline.stages.tracks import DUPLICATES

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dde5; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .6rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr:nth-child(even) { background: #f4f7fa; }
.balance { font-size: 1.1rem; } svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: #1c2733; }
.bar { fill: #2f6f9f; } .cell { fill: #0b5394; } .frame { fill: #eef3f7; } .grid { stroke: #b7c4d0; stroke-width: .5; }
p.note { color: #56677a; } p.warning { border-left: .3rem solid #b3261e; padding-left: .7rem; font-weight: 600; }
"""


def write_quality(folder: Path, result: Mapping[str, Any], before: Mapping[str, Any], after: Measures) -> None:
    """Put both forms of the report into `folder`."""
    quality = {**result, "before": before, "after": after.extent, **_without_extent(after)}
    with replaced(folder / "quality.json") as place:
        place.write_text(json.dumps(quality, indent=1, default=str) + "\n", encoding="utf-8")
    with replaced(folder / "quality.html") as place:
        place.write_text(render(quality), encoding="utf-8")


def _without_extent(measures: Measures) -> dict[str, Any]:
    return {name: value for name, value in asdict(measures).items() if name != "extent"}


def render(quality: Mapping[str, Any]) -> str:
    """The report as one HTML page."""
    title = f"Quality of the feed {escape(str(quality['feed']))}"
    body = "".join(
        f"<h2>{heading}</h2>{content}"
        for heading, content in (
            ("Rows", _balance(quality)),
            ("Rejected rows by reason", _counts(quality["reasons"], REASONS)),
            ("Duplicates", _counts(quality["duplicate_kinds"], DUPLICATES)),
            ("Repairs by kind", _counts(quality["repairs"], REPAIRS)),
            ("Before and after", _before_and_after(quality["before"], quality["after"])),
            ("Positions for each track", _distribution(quality["positions_per_track"], str)),
            ("Time between positions", _distribution(quality["intervals"], duration)),
            ("Gaps and jumps", _gaps(quality["gaps"])),
            ("Coverage", coverage_map(quality["coverage"])),
        )
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1>{body}</body></html>\n"
    )


def _balance(quality: Mapping[str, Any]) -> str:
    files = "".join(f"<li>{escape(str(name))}</li>" for name in quality["files_read"])
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in quality.get("warnings", ()))
    return (
        warnings
        + f'<p class="balance"><b>{quality["rows_in"]:,}</b> rows in = <b>{quality["rows_out"]:,}</b> positions + '
        f"<b>{quality['rejected']:,}</b> rejected + <b>{quality['duplicates']:,}</b> duplicates</p>"
        f"<p>Out of order, and therefore sorted: {count_of(quality['out_of_order'], 'row')}. "
        f"Stored: {count_of(quality['rows_stored'], 'position')} of {count_of(quality['tracks'], 'track')}.</p>"
        f"<ul>{files}</ul>"
    )


def _counts(counts: Mapping[str, int], meanings: Mapping[str, str]) -> str:
    if not counts:
        return '<p class="note">none</p>'
    return _table(
        ("", "rows", "meaning"),
        ((kind, f"{rows:,}", meanings.get(kind, "")) for kind, rows in counts.items()),
    )


def _before_and_after(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    box = ("west", "south", "east", "north")
    rows = [(name, _shown(before[name]), _shown(after[name])) for name in ("rows", "tracks", "first", "last")]
    rows += [(side, _shown(before["box"][n]), _shown(after["box"][n])) for n, side in enumerate(box)]
    known = [name for name, share in before["known"].items() if share or after["known"][name]]
    rows += [(f"{name} known", f"{before['known'][name]:.1%}", f"{after['known'][name]:.1%}") for name in known]
    note = '<p class="note">Before: every row of this ingest as it was read. After: the positions that are stored.</p>'
    return note + _table(("", "before", "after"), rows)


def _distribution(measured: Mapping[str, Any], name: Any) -> str:
    if not measured["count"]:
        return '<p class="note">none</p>'
    quantiles = ", ".join(f"{float(q):.0%}: {name(round(value, 3))}" for q, value in measured["quantiles"].items())
    mean, largest = (name(round(measured[key], 1)) for key in ("mean", "max"))
    text = f"<p>mean {mean}, largest {largest}; {escape(quantiles)}</p>"
    return text + bars(bucket_labels(measured["edges"], name), measured["buckets"])


def _gaps(gaps: Mapping[str, Any]) -> str:
    counts = [(key.replace("_", " "), f"{value:,}", "") for key, value in gaps.items() if key not in ("longest",)]
    longest = ((row["track"], duration(row["gap_s"]), row["ended"]) for row in gaps["longest"])
    shown = _table(("track", "gap", "ended"), longest) if gaps["longest"] else ""
    return _table(("", "positions", ""), counts) + shown


def _table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th class="{"n" if place == 1 else ""}">{escape(text)}</th>' for place, text in enumerate(heads))
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{"n" if place == 1 else ""}">{escape(text)}</td>' for place, text in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5f}" if isinstance(value, float) else str(value)
