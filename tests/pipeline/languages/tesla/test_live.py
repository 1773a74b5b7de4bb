"""Rules over a stream: cut into micro-batches, out of order and spread over buckets it finds what a batch finds."""

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from foresail.patterns.catalog.loader import Catalog, read_catalog
from foresail.pipeline.languages.tesla.evaluation import by_column, evaluate_sets, rule_sets_of
from foresail.pipeline.languages.tesla.events import read_event_files
from foresail.pipeline.languages.tesla.live import RuleBucket, RuleLine, Saved
from foresail.pipeline.languages.tesla.live_query import rule_line
from foresail.pipeline.languages.tesla.messages import ROUTED, Routing
from foresail.pipeline.languages.tesla.results import rows_of
from foresail.pipeline.local.sorted_events import Named
from foresail.pipeline.local.trying import EventSource
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings, StreamSettings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.bucket.input_rows import CONTROL, TICK
from tests.patterns.tesla.cases import RULES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 1_700_000_000
SILENCE = """Rule Silent define Silent(area: string) from Tick() as T and
  last Temp(area=$a) as P per area within 10 min from T and T.ts - P.ts > 40 and
  not Silent(area=$a) between P and T where area=$a"""
NEXT = """Rule Next define Next(a: string, b: string) from Smoke(area=$a) and
  last Temp(area != $a) within 1 min from Smoke where a=$a, b=Temp.area"""


def entry(folder: Path, text: str, **keys: Any) -> Path:
    file = folder / "fires.yaml"
    said = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
    rules = "".join(f"  {row}\n" for row in text.splitlines())
    file.write_text(f"language: tesla\nname: fires\nsays: Fires.\nrules: |\n{rules}{said}")
    return file


def some_messages(count: int = 400, areas: int = 7, seed: int = 1) -> list[dict[str, Any]]:
    """Readings and smoke of some areas, every few seconds, never two at one instant."""
    rng = random.Random(seed)
    rows, time = [], FIRST
    for _ in range(count):
        time += rng.choice([1, 2, 5, 30])
        area = f"A{rng.randrange(areas)}"
        kind = rng.choices(["Temp", "Smoke", "Rain"], [8, 2, 1])[0]
        rows.append(
            {"type": kind, "time": time, "area": area} | ({"value": rng.randrange(60)} if kind == "Temp" else {})
        )
    return rows


class Running:
    """The buckets of a line from micro-batch to micro-batch, through bytes as in the state store."""

    def __init__(self, line: RuleLine, buckets: int = 3) -> None:
        self.line, self.labels = line, tuple(range(buckets))
        self.saved: dict[int, Saved | None] = dict.fromkeys(self.labels)
        self.emitted: list[dict[str, Any]] = []
        self.offset = 0

    def read(self, messages: list[Any], control: list[Any] | None = None, wall_us: int = 0) -> None:
        raw = [m if isinstance(m, str) else json.dumps(m) for m in messages]
        offsets = list(range(self.offset, self.offset + len(raw)))
        self.offset += len(raw)
        arrived = [(FIRST + 10**6) * 10**6] * len(raw)
        routed = list(Routing(self.line.form, self.line.routes, self.labels).routed(raw, offsets, arrived))
        blank = {"route": None, "first": None, "time_us": 0, "offset": 0, "arrived_us": wall_us, "payload": None}
        for label in self.labels:
            mine = [row for row in routed if row["bucket"] == label]
            mine += [{**blank, "kind": CONTROL, "payload": json.dumps(order)} for order in control or ()]
            mine += [{**blank, "kind": TICK}] if wall_us else []
            rows = pd.DataFrame(mine, columns=ROUTED.names)
            bucket = RuleBucket(self.line, label == 0, self.saved[label])
            self.emitted += [row for table in bucket.advance(rows) for row in table.to_pylist()]
            self.saved[label] = bucket.saved()

    def flush(self) -> None:
        self.read([], [{"id": "end", "flush": True}])

    def of_kind(self, kind: str) -> list[Any]:
        return [json.loads(row["payload"]) for row in self.emitted if row["kind"] == kind]

    def size(self) -> int:
        return sum(len(part) for saved in self.saved.values() for part in saved or ())


def line_of(catalog: Catalog, **stream: Any) -> RuleLine:
    return rule_line(StreamSettings.model_validate({"out_of_order_s": 60.0, **stream}), catalog)


def in_batch(catalog: Catalog, folder: Path, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    file = folder / "all.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in messages))
    source = EventSource((str(file),), Named(), {})
    tables = read_event_files(source, by_column(rule_sets_of(catalog)))
    return list(rows_of(evaluate_sets(catalog, tables, source.named).table))


def same(rows: list[dict[str, Any]]) -> list[str]:
    """Composites as they must agree: all but the places of their events."""
    plain = [{**row, "events": {name: at["time"] for name, at in row["events"].items()}} for row in rows]
    return sorted(json.dumps(row, sort_keys=True) for row in plain)


@pytest.mark.parametrize(
    ("text", "keys", "routes"),
    [
        (RULES["R6"], {}, ("area",)),
        (f"{RULES['R3']}\n{NEXT}", {}, ("area", "")),
        (SILENCE, {"tick": "20s"}, ("",)),
        (
            RULES["R2"].replace("Temp", "Hot").replace("measuredHot", "t"),
            {"types": {"Hot": "value >= 30", "Smoke": "type = 'Smoke'"}},
            ("area",),
        ),
    ],
    ids=["hierarchy", "consuming, and a rule without a key", "ticks", "types of rows"],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_stream_finds_what_a_batch_finds(
    text: str, keys: dict[str, Any], routes: tuple[str, ...], seed: int, tmp_path: Path
) -> None:
    catalog = read_catalog([entry(tmp_path, text, **keys)])
    messages = some_messages(seed=seed)
    running = Running(line_of(catalog, columns={"value": "double", "type": "string"}))
    assert running.line.routes == routes
    rng = random.Random(seed)
    shuffled = sorted(messages, key=lambda row: row["time"] + rng.uniform(0, 50))
    while shuffled:
        size = rng.randrange(1, 60)
        running.read(shuffled[:size])
        shuffled = shuffled[size:]
    running.flush()
    found = in_batch(catalog, tmp_path, messages)
    assert len(found) > 10
    assert same(running.of_kind("composite")) == same(found)
    assert not running.of_kind("late")


def test_late_and_unreadable_messages_are_passed_on_and_the_rest_goes_on(tmp_path: Path) -> None:
    catalog = read_catalog([entry(tmp_path, RULES["R1"])])
    running = Running(line_of(catalog, out_of_order_s=0.0))
    hot = {"type": "Temp", "time": FIRST, "area": "A", "value": 50}
    running.read([hot, "{", {"type": "Temp"}, {"time": FIRST}, {"type": "Temp", "time": 9e9}, {"area": [1]}])
    running.read([{"type": "Smoke", "time": FIRST + 5, "area": "A"}])
    running.read([{**hot, "time": FIRST + 1}])
    assert [row["attributes"]["measuredTemp"] for row in running.of_kind("composite")] == [50.0]
    assert [row["reason"] for row in running.of_kind("late")] == ["late"]
    reasons = [row["reason"] for row in running.of_kind("rejected")]
    assert reasons == ["unreadable", "no_time", "no_type", "future_time", "no_type"]


def test_silence_is_told_by_the_wall_clock(tmp_path: Path) -> None:
    running = Running(line_of(read_catalog([entry(tmp_path, SILENCE, tick="20s")]), out_of_order_s=0.0))
    running.read([{"type": "Temp", "time": FIRST, "area": "A", "value": 1}], wall_us=10**15)
    running.read([], wall_us=10**15 + 30 * 10**6)
    assert running.of_kind("composite") == []
    running.read([], wall_us=10**15 + 70 * 10**6)
    assert [row["attributes"]["area"] for row in running.of_kind("composite")] == ["A"]


def test_rules_come_and_go_by_control_messages(tmp_path: Path) -> None:
    catalog = read_catalog([entry(tmp_path, RULES["R1"])])
    running = Running(line_of(catalog, out_of_order_s=0.0))

    def smoke(time: int) -> list[str]:
        before = len(running.of_kind("composite"))
        running.read([{"type": "Smoke", "time": FIRST + time, "area": "A"}])
        return [row["type"] for row in running.of_kind("composite")[before:]]

    running.read([{"type": "Temp", "time": FIRST, "area": "A", "value": 50}])
    assert smoke(1) == ["Fire"]
    alarm = "define Alarm(area: string) from Smoke(area=$a) where area=$a"
    running.read([], [{"id": "1", "pattern": "alarms", "rules": alarm}])
    assert sorted(smoke(2)) == ["Alarm", "Fire"]
    running.read([], [{"id": "2", "pattern": "fires", "enabled": False}])
    assert smoke(3) == ["Alarm"]
    running.read(
        [], [{"id": "3", "pattern": "alarms", "enabled": False}, {"id": "4", "pattern": "fires", "enabled": True}]
    )
    assert smoke(4) == [], "what it knew went when it was taken away"
    refused = [
        {"id": "5", "pattern": "alarms", "rules": "define"},
        {"id": "6", "pattern": "alarms", "rules": NEXT},
        {"id": "7", "pattern": "fyres", "enabled": False},
        {"id": "8", "pattern": "fires", "threshold": 0.5},
    ]
    running.read([], refused)
    reasons = {row["id"]: row.get("reason", "") for row in running.of_kind("ack")}
    assert [bool(reasons[str(n)]) for n in range(1, 9)] == [False] * 4 + [True] * 4
    assert "have no key, and this line spreads messages by area" in reasons["6"]


def test_state_is_bounded_by_the_windows(tmp_path: Path) -> None:
    """An hour of a stream with ever new areas: what is kept after ten minutes is what is kept after sixty."""
    catalog = read_catalog([entry(tmp_path, RULES["R2"])])
    running = Running(line_of(catalog, out_of_order_s=0.0), buckets=1)
    sizes = []
    for minute in range(60):
        rows = [
            {"type": "Temp", "time": FIRST + 60 * minute + n / 4, "area": f"{minute}-{n}", "value": 50}
            for n in range(240)
        ]
        running.read(rows)
        sizes.append(running.size())
    assert max(sizes[10:]) < 1.3 * min(sizes[10:])


@pytest.mark.spark
def test_the_live_line_runs_rules(spark: "SparkSession", tmp_path: Path) -> None:
    from foresail.pipeline.stream.query.job import Stream

    catalog = entry(tmp_path, f"{RULES['R6']}\n{NEXT}")
    messages = some_messages(600)
    for name in ("in", "control"):
        (tmp_path / name).mkdir()
    stream = {
        "source": "files",
        "directory": tmp_path / "in",
        "control_directory": tmp_path / "control",
        "patterns": [str(catalog)],
        "checkpoint": tmp_path / "checkpoint",
        "output": tmp_path / "out",
        "to_kafka": False,
        "buckets": 2,
    }
    settings = Settings.model_validate({"stream": stream})
    composites = 0
    for name, some in (("one", messages[:300]), ("two", messages[300:])):
        (tmp_path / "in" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
        if name == "two":
            (tmp_path / "control" / "flush.jsonl").write_text('{"id": "end", "flush": true}\n')
        summary = Stream(spark, settings, Policy(), SILENT).run(once=True)
        composites += summary["composites"]
    rows = [json.loads(row.payload) for row in spark.read.parquet(str(tmp_path / "out" / "composites")).collect()]
    assert same(rows) == same(in_batch(read_catalog([catalog]), tmp_path, messages))
    assert composites == len(rows) > 50
