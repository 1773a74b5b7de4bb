"""A checkpoint taken up by another line: its state belongs to patterns and models, not to places in arrays."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from foresail.models.counts import count
from foresail.models.model import ModelSettings, build
from foresail.models.store import ModelStore
from foresail.models.suffix_tree import LearnSettings
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions.text import text_of
from foresail.patterns.conditions.typing import AttributeType
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.tables import shared_conditions
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.results.match_batch import found_batch
from foresail.pipeline.settings import StreamSettings
from foresail.pipeline.stream.bucket.line_spec import FamilySpec, LineSpec
from foresail.pipeline.stream.bucket.near import near_of
from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.query.plan import _models
from foresail.pipeline.stream.state.codec import StateFormatError
from foresail.pipeline.stream.state.saved import (
    STATE_FORMAT,
    Chunk,
    chunk_from_row,
    chunk_to_row,
    from_row,
    to_row,
)
from tests.patterns.layered import LAYER, beside
from tests.pipeline.stream import lines

GOLDEN = Path(__file__).parents[2] / "golden" / "state"
TYPES = {"x": AttributeType.NUMBER, "y": AttributeType.NUMBER}
HOLDS = {"x < 1": lambda x: x < 1, "x >= 5": lambda x: x >= 5, "x >= 3": lambda x: x >= 3}


def pattern(name: str, text: str, **rules: Any) -> CompiledPattern:
    where = {"slow": "x < 1", "fast": "x >= 5", "brisk": "x >= 3"}
    used = {word: condition for word, condition in where.items() if word in text}
    return compile_pattern(spec_of(name, text, used, **rules), TYPES)


STAYS = pattern("stays", "slow{3,}", max_gap_us=10 * lines.MINUTE_US, report=Report.EPISODES)
STARTS = pattern("starts", "slow ; fast")
HALTS = pattern("halts", "fast ; slow")
SWINGS = pattern("swings", "slow ; fast", output=Output.COUNT, max_gap_us=30 * lines.MINUTE_US)


def spec_for(name: str, *patterns: CompiledPattern, **more: Any) -> LineSpec:
    return LineSpec(name, patterns, shared_conditions(patterns), types=TYPES, **more)


def events(seed: int, spec: LineSpec | None = None, number: int = 900) -> pd.DataFrame:
    frame = lines.some_events(seed, events=number)
    x = np.random.default_rng(seed).choice([0.5, 4.0, 6.0], size=number, p=[0.5, 0.2, 0.3])
    return worded(frame.assign(x=x), spec) if spec else frame.assign(x=x)


def worded(rows: pd.DataFrame, spec: LineSpec) -> pd.DataFrame:
    """The rows with the words of the conditions that cross in a line."""
    bits = [HOLDS[text_of(c)](rows["x"].to_numpy()).astype(np.int64) << n for n, c in enumerate(spec.conditions)]
    return rows.assign(word_0=sum(bits))


def restarted(
    first: LineSpec, second: LineSpec, rows: pd.DataFrame, cut: int = 450, **rules: int
) -> tuple[lines.Running, list[dict[str, Any]]]:
    """A line that is stopped and started with other patterns on its checkpoint; and what it told before that."""
    line = lines.Running(first, BucketRules(**rules))
    line.read(worded(rows.iloc[:cut], first))
    before, line.told = line.rows("match"), []
    line.spec, line.specs = second, (second,)
    line.read(worded(rows.iloc[cut:], second))
    return line, before


def anew(line: lines.Running) -> list[str]:
    return [text for row in line.rows("stats") for text in json.loads(row["payload"])["anew"]]


def of_batch(found: CompiledPattern, rows: pd.DataFrame, since_us: int = 0) -> set[tuple[Any, ...]]:
    """The rows of a batch whose matches began at `since_us` or later."""
    told = lines.in_batch((found,), worded(rows, spec_for("", found)))
    return lines.as_set([row for row in told if row["start_time_us"] >= since_us])


@pytest.mark.parametrize("rest_s", [60, 100_000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_patterns_on_one_checkpoint_go_on_where_equal_and_begin_anew_where_not(seed: int, rest_s: int) -> None:
    rows = events(seed)
    first, second = spec_for("first", STAYS, STARTS, SWINGS), spec_for("second", SWINGS, HALTS, STAYS)
    line, before = restarted(first, second, rows, rest_after_us=rest_s * 1_000_000)
    told = line.rows("match")

    def both(name: str) -> set[tuple[Any, ...]]:
        return lines.as_set([row for row in (*before, *told) if row["pattern"] == name])

    assert {row["pattern"] for row in told} == {"stays", "halts", "swings"}
    assert both("swings") == of_batch(SWINGS, rows)
    assert both("halts") == of_batch(HALTS, rows, int(rows["time_us"].iloc[450]))
    ended = {row for row in both("stays") - of_batch(STAYS, rows) if row[4] != "timed_out"}
    assert (of_batch(STAYS, rows) - both("stays"), ended) == (set(), set())
    assert anew(line) == [
        "halts version 1: is new here and begins now",
        "starts: is looked for no more; what was under way ends without a word",
    ]


def test_a_pattern_of_another_version_or_form_begins_anew_and_says_so() -> None:
    rows = events(4)
    newer = pattern("starts", "slow ; fast", version=2)
    line, _ = restarted(spec_for("one", STARTS, HALTS), spec_for("two", newer, pattern("halts", "fast ; brisk")), rows)
    assert anew(line) == [
        "starts: version 2 in place of 1 begins anew",
        "halts version 1: is not what it was under that version, and begins anew",
    ]
    since = int(rows["time_us"].iloc[450])
    found = lines.as_set([row for row in line.rows("match") if row["pattern"] == "starts"])
    assert found == of_batch(newer, rows, since)


def test_the_same_patterns_say_nothing_and_the_news_is_told_once() -> None:
    rows, first, second = events(5), spec_for("a", STAYS, STARTS), spec_for("b", STARTS)
    line, _ = restarted(first, first, rows)
    assert anew(line) == []
    line.spec, line.specs = second, (second,)
    line.read(worded(rows.iloc[:0], second), now_us=1)
    line.read(worded(rows.iloc[:0], second), now_us=2)
    assert len(anew(line)) == 1


def test_events_that_waited_are_read_with_the_words_of_the_new_patterns() -> None:
    rows = events(6)
    first, second = spec_for("w1", STARTS), spec_for("w2", pattern("rests", "brisk ; slow"), STARTS, HALTS)
    line, before = restarted(first, second, rows, out_of_order_us=3_600_000_000)
    line.read(lines.NOTHING, control=['{"id": "end", "flush": true}'])
    assert line.bucket is not None
    told = [row for row in (*before, *line.rows("match")) if row["pattern"] == "starts"]
    assert lines.as_set(told) == of_batch(STARTS, rows)
    waited = lines.as_set([row for row in line.rows("match") if row["pattern"] == "rests"])
    assert waited <= of_batch(pattern("rests", "brisk ; slow"), rows)
    assert min(row[2] for row in waited) < rows["time_us"].iloc[450], "also in what had waited"


def stored(folder: Path, found: CompiledPattern, order: int = 2) -> str:
    rows = events(99, spec_for("train", found))
    table = SymbolTable(found, shared_conditions([found]))
    symbols = table.symbols(rows["word_0"].to_numpy(np.int64).reshape(-1, 1))
    counts = count(symbols, rows["time_us"].to_numpy(np.int64), np.array([0, len(rows)]), found, 6)
    settings = ModelSettings(learn=LearnSettings(order=order), horizon=30, within=5, threshold=0.3)
    return ModelStore(folder).add(build(found, counts, settings))


def test_a_line_goes_on_after_its_first_model_was_trained(tmp_path: Path) -> None:
    rows, store = events(7), tmp_path / "models"
    before = spec_for("untrained", STAYS, STARTS, models=store)
    version = stored(store, STARTS)
    after = replace(before, name="trained", forecast={"starts": version}, emission="all")
    line, told = restarted(before, after, rows)
    assert lines.as_set([row for row in (*told, *line.rows("match")) if row["pattern"] == "starts"]) == of_batch(
        STARTS, rows
    )
    assert anew(line) == [f"starts: is forecast from now on, by {version}"]
    index = rows.groupby("track").cumcount() + 1
    expected = dict(zip(zip(rows["track"][450:], rows["time_us"][450:], strict=True), index[450:], strict=True))
    forecast = {(row["track"], row["time_us"]): row["index"] for row in line.rows("forecast")}
    assert len(forecast) > 300, "at all events but those of a match"
    assert forecast == {event: expected[event] for event in forecast}


def test_another_model_goes_on_with_the_histories_and_one_whose_forerunner_is_gone_begins_anew(tmp_path: Path) -> None:
    rows, store = events(8), tmp_path / "models"
    one, two = stored(store, STARTS), stored(store, STARTS, order=4)
    first = spec_for("m1", STARTS, models=store, forecast={"starts": one}, emission="all")
    line, _ = restarted(first, replace(first, name="m2", forecast={"starts": two}), rows)
    assert anew(line) == [f"starts: is forecast by {two} in place of {one}, with the histories there are"]
    whole = lines.Running(replace(first, name="m3", forecast={"starts": two}))
    whole.read(worded(rows, first))
    expected = {(r["track"], r["index"]): r["probability"] for r in whole.rows("forecast")}
    told = {(r["track"], r["index"]): r["probability"] for r in line.rows("forecast")}
    assert told == {key: expected[key] for key in told}
    gone = replace(first, name="m4", models=tmp_path / "elsewhere")
    only = stored(tmp_path / "elsewhere", STARTS, order=3)
    line, _ = restarted(first, replace(gone, forecast={"starts": only}), rows)
    assert anew(line) == [f"starts: {only} begins anew, for {one} is not in the store any more"]


def test_forecasts_whose_pattern_is_forecast_no_more_have_no_outcome(tmp_path: Path) -> None:
    store = tmp_path / "models"
    scored = spec_for("s1", STAYS, STARTS, models=store, emission="changes", score_share=1)
    both = replace(scored, forecast={"stays": stored(store, STAYS), "starts": stored(store, STARTS)})
    line, _ = restarted(both, replace(both, name="s2", forecast={"starts": both.forecast["starts"]}), events(9))
    stats = [json.loads(row["payload"]) for row in line.rows("stats")]
    assert {name for some in stats for name in some["outcomes"]} == {"starts"}
    assert line.saved is not None
    assert {name.split("\x1f")[2] for name in line.saved.notes["positive"]} <= {"0"}


def entering(name: str, text: str) -> CompiledPattern:
    where = {"out": "port.distance_m >= 5", "inside": "port.distance_m < 5"}
    return compile_pattern(spec_of(name, text, where, family="port"))


def test_families_go_on_by_layer_and_those_of_a_new_layer_count_from_the_first_event() -> None:
    enters, leaves = entering("enters", "out ; inside"), entering("leaves", "inside ; out")
    rng = np.random.default_rng(3)
    rows = lines.some_events(3, tracks=5, events=300).assign(family_0_0=1, word_0=0)
    names = [[n for n in ("Kiel", "Tönning") if rng.random() < 0.6] for _ in range(300)]
    words = pd.Series([rng.choice([1, 2], len(some)) for some in names], dtype=object)
    rows = rows.assign(near_0_name=pd.Series(names, dtype=object), near_0_word_0=words)
    ports = FamilySpec((enters,), enters.conditions, "ports")
    quays = FamilySpec((leaves, entering("also", "out ; inside")), enters.conditions, "quays")
    line = lines.Running(LineSpec("f1", (), (), (ports,)))
    line.read(rows.iloc[:150])
    line.spec = LineSpec("f2", (), (), (quays, replace(ports, patterns=(leaves, enters))))
    line.specs = (line.spec,)
    line.read(rows.iloc[150:].assign(family_1_0=1, near_1_name=rows["near_0_name"], near_1_word_0=words))
    found = line.rows("match")
    ordered = rows.sort_values(["track", "time_us"], kind="stable", ignore_index=True)
    first_of = np.append(np.flatnonzero(~ordered["track"].duplicated()), len(ordered))
    batch = EventBatch(ordered["family_0_0"].to_numpy(np.int64).reshape(-1, 1), ordered["time_us"].to_numpy(), first_of)
    features: dict[str, None] = {}
    near = near_of(ordered, 0, 1, features)
    import pyarrow as pa

    family = FamilyRecogniser([enters], LAYER)
    matches, _ = family.advance(beside(batch, near), family.fresh(len(first_of) - 1))
    tracks = pa.array(ordered["track"].tolist())
    expected = found_batch(matches, (enters,), tracks, matches.event, list(features)).to_pylist()

    def kept(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
        return {(row["instance"], row["track"], row["time_us"], row["index"], row["start_time_us"]) for row in rows}

    assert kept([row for row in found if row["pattern"] == "enters"]) == kept(expected)
    since = int(rows["time_us"].iloc[150])
    also = [row for row in found if row["pattern"] == "also"]
    assert kept(also) == kept([row for row in expected if row["start_time_us"] >= since])


def test_state_of_another_format_is_refused_in_one_line() -> None:
    line = lines.Running(spec_for("old", STARTS))
    line.read(events(1, line.spec))
    assert line.saved is not None
    text, *rest = to_row(line.saved)
    later = json.dumps({**json.loads(text), "format": STATE_FORMAT + 1})
    with pytest.raises(StateFormatError, match=rf"^checkpoint: .*format {STATE_FORMAT + 1}; .*stream\.checkpoint\.$"):
        from_row((later, *rest))
    chunk = Chunk(line.saved.form, line.saved.tracks, line.saved.states)
    text, states = chunk_to_row(chunk)
    unnumbered = json.dumps({key: value for key, value in json.loads(text).items() if key != "format"})
    with pytest.raises(StateFormatError, match=r"^checkpoint: .*before its state had a number.*stream\.checkpoint\.$"):
        chunk_from_row((unnumbered, states))


def test_state_that_an_earlier_foresail_wrote_is_refused_in_one_line() -> None:
    text, *rest = json.loads((GOLDEN / "before_numbers.json").read_text(encoding="utf-8"))["row"]
    with pytest.raises(StateFormatError, match=r"^checkpoint: .*before its state had a number.*stream\.checkpoint\.$"):
        from_row((text, *map(base64.b64decode, rest)))


def test_a_store_that_is_not_there_is_refused_and_an_empty_one_is_spoken_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Exception, match=r"^stream\.models: there is no folder .*missing\. Name the store"):
        _models(StreamSettings(models=tmp_path / "missing"), [STARTS])
    assert _models(StreamSettings(models=tmp_path), [STARTS]) == {}
    assert "has no model of a pattern of this line, so nothing is forecast" in caplog.text
