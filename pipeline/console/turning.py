"""Knobs turned and patterns tried from the page: the same control messages as `foresail configure`, the same runner as
`foresail try`.
"""

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foresail.patterns.catalog.languages import LanguageEntry
from foresail.patterns.catalog.loader import Catalog, built_in_files, catalog_files, catalog_of, read_text
from foresail.patterns.catalog.writer import write_entry
from foresail.pipeline.api.finding import find
from foresail.pipeline.console.insight import Insight
from foresail.pipeline.console.store import Store
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings
from foresail.pipeline.stages.derive import PREVIOUS_COLUMNS, derived_arrays, options_of
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.deriving import nullable_columns, plain_columns
from foresail.pipeline.stream.control.configure import Order, control_message, keep_catalog, send

REPLY_WITHIN_S = 20.0
MOST_CHARACTERS = 20_000
MOST_SHOWN = 200
HOUR_US = 3_600_000_000


def turn(settings: Settings, order: Order) -> dict[str, Any]:
    """Send what is to be different to the line; its reply."""
    text = control_message(settings, order, SILENT)
    if settings.kafka.bootstrap_servers and settings.stream.source == "kafka":
        return send(settings, text, REPLY_WITHIN_S)
    folder = settings.stream.control_directory
    if folder is None:
        msg = "knobs: this line takes no control messages. Set stream.control_directory, or use Kafka."
        raise InputError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    message = json.loads(text)
    staged = folder / f".{message['id']}.json"
    staged.write_text(text + "\n", encoding="utf-8")
    staged.rename(folder / f"{message['id']}.json")
    return {"accepted": None, "message": message, "reason": "sent; the line answers in its folder of replies"}


def drafted(text: str) -> Catalog:
    """The entries of a text that a user wrote."""
    if len(text) > MOST_CHARACTERS:
        msg = f"pattern: more than {MOST_CHARACTERS:,} characters. Write fewer patterns at a time."
        raise InputError(msg)
    catalog = catalog_of(read_text(text, "pattern"))
    for entry in catalog.others:
        _refuse_files(entry)
    return catalog


def _refuse_files(entry: LanguageEntry) -> None:
    """A text from a page holds all of its rules: a name in it must not have a file of this machine read."""
    written = getattr(entry, entry.TEXT).strip()
    named = getattr(entry, "streams", None) or getattr(entry, "knowledge", None)
    if named or (len(written.split()) == 1 and written.endswith(f".{entry.language}")):
        msg = f"{entry.name}: names a file, which a text of the page cannot. Write {entry.TEXT} out in full."
        raise InputError(msg)


def tried(store: Store, settings: Settings, text: str, hours: float) -> dict[str, Any]:
    """What the patterns of a text find in the last hours that are kept."""
    catalog = drafted(text)
    clock = store.clock_us()
    events = last_events(store, settings, round(hours * HOUR_US))
    if clock is None or events.empty:
        msg = "pattern: there are no positions yet to try it on. Wait until the line has told some."
        raise InputError(msg)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        found = find(events, catalog, skip_unfit=False, layers=settings.layers.file)
    plain = found[[c for c in found.columns if c not in ("registers",)]].head(MOST_SHOWN)
    rows = json.loads(plain.to_json(orient="records", date_format="iso", default_handler=str))
    matched = found["match_id"].nunique() if "match_id" in found.columns else len(found)
    return {
        "matches": int(matched),
        "rows": rows,
        "tracks": int(found["track"].nunique()) if "track" in found.columns else None,
        "events": len(events),
        "since": events["time"].min().isoformat(),
        "until": events["time"].max().isoformat(),
        "notes": [str(note.message)[:500] for note in notes][:10],
    }


def last_events(store: Store, settings: Settings, span_us: int) -> pd.DataFrame:
    """Positions of the kept past with what can be derived of them, by track and time."""
    clock = store.clock_us()
    if clock is None:
        return pd.DataFrame()
    rows = store.history.between(clock - span_us, clock)
    names = np.array(store.history.names, dtype=object)
    maritime = settings.stream.domain == "maritime"
    frame = pd.DataFrame(
        {
            "track": names[rows["track"]],
            "time": pd.to_datetime(rows["time"], unit="us", utc=True),
            "lon": rows["lon"].astype(float),
            "lat": rows["lat"].astype(float),
            "speed_kn" if maritime else "speed_kmh": rows["speed"].astype(float),
            "course_deg": rows["course"].astype(float),
            "heading_deg": rows["heading"].astype(float),
            "nav_status": np.where(rows["status"] < 0, np.nan, rows["status"]),
        }
    )
    frame = frame.drop_duplicates(["track", "time"]).sort_values(["track", "time"], kind="stable", ignore_index=True)
    if frame.empty:
        return frame
    known = {track: held.last.values for track, held in list(store.tracks.items())}
    for name in ("name", "vessel_type", "length_m", "engine"):
        frame[name] = [known.get(track, {}).get(name) for track in frame["track"]]
    return _derived(frame, settings)


def _derived(frame: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The frame with derived attributes, as the line derives them of its own positions."""
    plain = frame.assign(time=frame["time"].dt.tz_localize(None))
    first = ~frame["track"].duplicated()
    for name in PREVIOUS_COLUMNS:
        column = name.removeprefix("previous_")
        before = plain[column].shift() if column in plain.columns else pd.Series(np.nan, index=plain.index)
        plain[name] = before.mask(first)
    for since in ("status_since", "heard_since"):
        plain[since] = plain.groupby("track")["time"].transform("min")
    options = options_of(Policy(), settings.stream.domain)
    made = plain_columns(derived_arrays(nullable_columns(plain), options), len(plain))
    return frame.assign(**{name: values for name, values in made.items() if name not in frame.columns})


def put_live(settings: Settings, insight: Insight, store: Store, text: str) -> dict[str, Any]:
    """Have the line also look for the patterns of a text: its catalog and these, as one new catalog."""
    new = drafted(text)
    if settings.stream.models is None:
        msg = "stream.models: is not set, and catalogs are kept in the store. Name a folder for it."
        raise InputError(msg)
    taken = {entry.name for entry in new.every}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for n, (name, content) in enumerate(_now_live(settings, insight, store).items()):
            if name not in taken:
                files.append(Path(folder) / f"{n:03d}.yaml")
                files[-1].write_text(content, encoding="utf-8")
        files.append(Path(folder) / "new.yaml")
        files[-1].write_text(text, encoding="utf-8")
        version = keep_catalog(settings.stream.models, tuple(files))
        return {**turn(settings, Order(catalog=tuple(files))), "catalog": version}


def _now_live(settings: Settings, insight: Insight, store: Store) -> dict[str, str]:
    """The texts of the patterns that the line looks for now, by name."""
    for reply in reversed(list(store.replies)):
        held = reply.get("configuration")
        version = held.get("catalog") if isinstance(held, dict) else None
        if isinstance(version, str) and settings.stream.models is not None and version.isalnum():
            folder = settings.stream.models / "catalogs" / version
            if folder.is_dir():
                entries = [e for file in catalog_files([folder]) for e in read_text(file.read_text("utf-8"), file.name)]
                return {entry.name: write_entry(entry) for entry in entries}
    return {entry.name: write_entry(entry) for entry in insight.catalog}


def example_of(settings: Settings) -> str:
    """A pattern to begin with."""
    for file in built_in_files():
        if file.name == ("drifting.yaml" if settings.stream.domain == "maritime" else "possible_theft.yaml"):
            return str(file.read_text(encoding="utf-8")).replace("name: ", "name: my_", 1)
    return ""
