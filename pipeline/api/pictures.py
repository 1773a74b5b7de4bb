"""Pictures that show themselves in a notebook: the automaton of a pattern, and matches on a map."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa

from foresail.pipeline.local.frames import open_frame
from foresail.pipeline.local.sorted_events import Named, sort_events

MAP_HEIGHT = 720


def framed(page: str, height: int) -> str:
    """A whole page inside a notebook, with its own style and script."""
    return f'<iframe srcdoc="{escape(page)}" style="width:100%;height:{height}px;border:0"></iframe>'


@dataclass(frozen=True, slots=True)
class MatchMap:
    """A page with matches and tracks on a map; `save` keeps it."""

    html: str

    def __repr__(self) -> str:
        return f"MatchMap({len(self.html):,} characters of HTML; save(file) keeps it)"

    def _repr_html_(self) -> str:
        return framed(self.html, MAP_HEIGHT)

    def save(self, file: str | Path) -> Path:
        """Write the page, which needs no network."""
        place = Path(file)
        place.write_text(self.html, encoding="utf-8")
        return place


def map(  # noqa: A001 - fs.map is what it is called
    matches: Any,
    events: Any,
    *,
    track: str = "track",
    time: str = "time",
    time_unit: str | None = None,
    layers: str | Path | Any | None = None,
) -> MatchMap:
    """The matches that `fs.find` gave, on a map with the tracks of `events`, which have `lon` and `lat`."""
    from foresail.pipeline.local.layers import layers_at_hand  # noqa: PLC0415
    from foresail.pipeline.local.match_map import match_map  # noqa: PLC0415 - brings the reports

    found = sort_events(open_frame(events), Named(track, time, time_unit))
    return MatchMap(match_map(_table(matches), found, layers_at_hand(layers).layers))


def _table(matches: Any) -> pa.Table:
    frame = open_frame(matches)
    names = ("match_id", "pattern", "instance", "track", "time", "start_time", "lon", "lat")
    return pa.table({name: frame.column(name) for name in names if name in frame.columns})
