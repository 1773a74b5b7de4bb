"""Rules through the commands and the library: what is printed, what is written, and what is said of bad input."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import foresail as fs
from foresail.pipeline.cli.catalog import command as catalog_command
from foresail.pipeline.cli.recognise import command as recognise
from foresail.pipeline.cli.try_patterns import command as try_patterns
from tests.patterns.tesla.cases import CASES, REFUSED, RULES
from tests.patterns.tesla.running import Found, events_of, expected, plain_found

FIRE = [
    {"type": "Temp", "time": 60, "area": "A", "value": 50},
    {"type": "Temp", "time": 120, "area": "B", "value": 60},
    {"type": "Rain", "time": 130, "area": "B", "mm": 1.5},
    {"type": "Smoke", "time": 240, "area": "A"},
]


def run(command: Any, *arguments: object) -> Any:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def tried(patterns: Path, *events: Path) -> tuple[list[dict[str, Any]], str]:
    given = [part for file in events for part in ("--events", file)]
    done = run(try_patterns, "--patterns", patterns, *given, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(row) for row in done.stdout.splitlines()], done.stderr


def lines(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def rules(folder: Path, text: str) -> Path:
    file = folder / "rules.tesla"
    file.write_text(text)
    return file


def entry(folder: Path, text: str, **keys: Any) -> Path:
    file = folder / "entry.yaml"
    said = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
    indented = "".join(f"  {row}\n" for row in text.splitlines())
    file.write_text(f"language: tesla\nname: fires\nsays: Fires.\nrules: |\n{indented}{said}")
    return file


def found_in(rows: Sequence[dict[str, Any]]) -> list[Found]:
    seconds = [pd.Timestamp(row["time"]).value // 1000 for row in rows]
    found = [plain_found(row["type"], time, row["attributes"]) for row, time in zip(rows, seconds, strict=True)]
    return sorted(found, key=repr)


@pytest.mark.parametrize(("title", "rule", "events", "result", "options"), CASES, ids=[case[0] for case in CASES])
def test_case_from_outside(
    title: str, rule: str, events: str, result: str, options: dict[str, str], tmp_path: Path
) -> None:
    rows = [{"type": e.type, "time": e.ts_us / 1e6, **e.attributes} for e in events_of(events)]
    text = RULES.get(rule, rule)
    file = entry(tmp_path, text, **options) if options else rules(tmp_path, text)
    found, _ = tried(file, lines(tmp_path / "e.jsonl", rows))
    assert found_in(found) == expected(result), title


@pytest.mark.parametrize(("text", "place", "fault"), REFUSED, ids=[case[2] for case in REFUSED])
def test_what_cannot_be_meant_is_refused_in_one_line(text: str, place: str, fault: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(catalog_command, ["check", str(rules(tmp_path, text))])
    assert done.exit_code == 1
    (line,) = [line for line in done.stderr.splitlines() if "rules.tesla" in line]
    assert f"rules.tesla:{place}: " in line
    assert fault in line


def test_a_row_has_the_fixed_keys(tmp_path: Path) -> None:
    rows, said = tried(rules(tmp_path, RULES["R1"]), lines(tmp_path / "e.jsonl", FIRE))
    assert rows == [
        {
            "composite_id": rows[0]["composite_id"],
            "rule": "R1",
            "type": "Fire",
            "time": "1970-01-01T00:04:00.000000Z",
            "attributes": {"area": "A", "measuredTemp": 50.0},
            "key": "A",
            "events": {
                "Smoke": {"time": "1970-01-01T00:04:00.000000Z", "position": 3},
                "Temp": {"time": "1970-01-01T00:01:00.000000Z", "position": 0},
            },
        }
    ]
    assert list(rows[0]) == ["composite_id", "rule", "type", "time", "attributes", "key", "events"]
    assert "taken as s" in said


def test_equal_composites_are_kept_under_names_of_their_own_that_do_not_change(tmp_path: Path) -> None:
    events = lines(tmp_path / "e.jsonl", [FIRE[0], FIRE[0], FIRE[3]])
    first, _ = tried(rules(tmp_path, RULES["R1"]), events)
    assert len({row["composite_id"] for row in first}) == 2
    more = lines(tmp_path / "more.jsonl", [{"type": "Temp", "time": 1, "area": "Z", "value": 1}, FIRE[0], *FIRE])
    again, _ = tried(rules(tmp_path, RULES["R1"]), more)
    assert [row["composite_id"] for row in again] == [row["composite_id"] for row in first]


def test_several_tables_are_one_input_in_the_order_given(tmp_path: Path) -> None:
    pd.DataFrame({"type": ["Smoke"], "time": [240], "area": ["A"]}).to_parquet(tmp_path / "smoke.parquet")
    (tmp_path / "temp.csv").write_text("type,time,area,value\nTemp,60,A,50\nTemp,240,A,51\n")
    text = RULES["R1"]
    strict, _ = tried(entry(tmp_path, text), tmp_path / "smoke.parquet", tmp_path / "temp.csv")
    assert [row["events"]["Temp"]["position"] for row in strict] == [1]
    arrival = entry(tmp_path, text, ties="arrival")
    assert len(tried(arrival, tmp_path / "smoke.parquet", tmp_path / "temp.csv")[0]) == 1
    assert len(tried(arrival, tmp_path / "temp.csv", tmp_path / "smoke.parquet")[0]) == 2


def test_types_make_events_of_rows_and_a_row_may_be_several(tmp_path: Path) -> None:
    text = """define Met(a: int, b: int) from Slow(mmsi=$m, cell=$c) as P and
        last Slow(cell=$c, mmsi != $m) as Q within 10 min from P and
        Count(Pos(mmsi=$m) within 1 h from P) >= 1 where a=$m, b=Q.mmsi"""
    (tmp_path / "p.csv").write_text(
        "mmsi,time,cell,speed_kn\n1,2024-01-01T00:00:00Z,c,9\n2,2024-01-01T00:01:00Z,c,1\n1,2024-01-01T00:02:00Z,c,1\n"
    )
    file = entry(tmp_path, text, types={"Slow": "speed_kn < 2", "Pos": "speed_kn is known"})
    (row,) = tried(file, tmp_path / "p.csv")[0]
    assert (row["attributes"], row["key"]) == ({"a": 1, "b": 2}, "c")


def test_a_tick_tells_of_silence_without_the_next_event(tmp_path: Path) -> None:
    text = """define Silent(mmsi: string) from Tick() as T and
        last Pos(mmsi=$m) as P per mmsi within 1 h from T and T.ts - P.ts > 120 and
        not Silent(mmsi=$m) between P and T where mmsi=$m"""
    rows = [{"type": "Pos", "time": t, "mmsi": m} for t, m in ((10, "a"), (15, "b"), (150, "b"), (250, "b"))]
    found, _ = tried(entry(tmp_path, text, tick="60s"), lines(tmp_path / "e.jsonl", rows))
    assert [(row["attributes"]["mmsi"], row["time"][14:19]) for row in found] == [("a", "03:00")]
    assert found[0]["events"]["T"]["position"] is None


def test_values_of_several_types_under_one_name_stay_apart(tmp_path: Path) -> None:
    rows = [{"type": "A", "time": t, "v": v} for t, v in enumerate([1, "1", True, None, 2.5], start=1)]
    found, _ = tried(rules(tmp_path, "define X(v: int) from A(v = 1) where v=A.v"), lines(tmp_path / "e.jsonl", rows))
    assert [row["events"]["A"]["position"] for row in found] == [0]
    found, _ = tried(rules(tmp_path, "define X(v: bool) from A(v = true) where v=A.v"), tmp_path / "e.jsonl")
    assert [row["attributes"] for row in found] == [{"v": True}]


def test_unknown_types_and_attributes_are_told_with_the_nearest_name(tmp_path: Path) -> None:
    text = RULES["R1"].replace("Smoke", "Smokes").replace("value>45", "valu>45")
    found, said = tried(rules(tmp_path, text), lines(tmp_path / "e.jsonl", FIRE))
    assert found == []
    assert "no event is of type 'Smokes'. Did you mean 'Smoke'?" in said
    assert "no event of type 'Temp' has the attribute 'valu'. Did you mean 'value'?" in said


def test_declared_types_must_be_there(tmp_path: Path) -> None:
    events = lines(tmp_path / "e.jsonl", FIRE)
    for text, types, fault in (
        (
            "define X(v: int) from Slwo() where v=1",
            {"Slow": "value < 2"},
            "no events of type 'Slwo'. Did you mean 'Slow'",
        ),
        (
            "define X(v: int) from Slow() where v=1",
            {"Slow": "vale < 2"},
            "unknown attribute 'vale'. Did you mean 'value'",
        ),
        ("define X(v: int) from Slow() where v=1", {"Slow": "value <"}, "entry.yaml:6:25: "),
        ("define Slow(v: int) from A() where v=1", {"Slow": "value < 2", "A": "value > 2"}, "is defined by rule"),
    ):
        done = CliRunner().invoke(
            try_patterns, ["--patterns", str(entry(tmp_path, text, types=types)), "--events", str(events), "--json"]
        )
        assert isinstance(done.exception, fs.PatternError)
        assert fault in str(done.exception)


def test_rows_that_are_no_events_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    rows = [*FIRE[:2], {"type": "Temp", "area": "A"}, {"time": 9}, {"type": "Temp", "time": "soon"}, FIRE[3]]
    file = lines(tmp_path / "e.jsonl", rows)
    file.write_text(file.read_text() + "not json\n")
    found, said = tried(rules(tmp_path, RULES["R1"]), file)
    assert len(found) == 1
    assert "4 rows of 7 left out" in said


def test_a_rule_whose_rows_explode_is_limited_and_named(tmp_path: Path) -> None:
    rows = [{"type": "A", "time": n} for n in range(60)] + [{"type": "T", "time": 60}]
    text = """Rule Many define X(n: int) from T() as T and each A() as A within 1 h from T and each A() as B within 1 h
        from T and each A() as C within 1 h from T where n=1"""
    found, said = tried(rules(tmp_path, text), lines(tmp_path / "e.jsonl", rows))
    assert len(found) == 100_000
    assert "limit reached, rows of rule 'Many'" in said


def test_recognise_writes_composites_in_either_form(tmp_path: Path) -> None:
    events, file = lines(tmp_path / "e.jsonl", FIRE), rules(tmp_path, RULES["R1"])
    given = ["--patterns", file, "--events", events, "--engine", "local", "--json", "-q", "--out", tmp_path / "out"]
    summary = json.loads(run(recognise, *given).stdout.splitlines()[-1])
    assert (summary["composites"], summary["composites_by_rule"], summary["events"]) == (1, {"R1": 1}, 4)
    table = pd.read_parquet(tmp_path / "out" / "composites")
    assert table["attributes"][0] == {"area": "A", "measuredTemp": 50.0}
    run(recognise, *given, "--format", "jsonl")
    rows = [json.loads(row) for row in (tmp_path / "out" / "composites.jsonl").read_text().splitlines()]
    assert rows == tried(file, events)[0]


def test_find_takes_a_frame_and_refuses_patterns_beside_rules(tmp_path: Path) -> None:
    frame = pd.DataFrame(FIRE)
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    file = rules(tmp_path, RULES["R1"])
    found = fs.find(frame, file)
    assert found["attributes"].tolist() == [{"area": "A", "measuredTemp": 50.0}]
    stop = fs.pattern("stop", "slow", where={"slow": "speed_kn < 1"})
    with pytest.raises(fs.InputError, match=r"'stop' is a pattern and 'rules' is written in tesla.*Run them apart"):
        fs.find(frame, [file, stop])
    with pytest.raises(fs.InputError, match="no column 'type'"):
        fs.find(frame.drop(columns="type"), file)


def test_the_catalog_shows_checks_and_draws_rules(tmp_path: Path) -> None:
    file = entry(tmp_path, RULES["R6"])
    assert "1 pattern, no fault" in run(catalog_command, "check", file).stdout
    shown = run(catalog_command, "show", "fires", "--patterns", file).stdout
    assert "R6a  NotIncrTemp of Temp, last Temp within 5min, no Temp between" in shown
    assert "area: runs in parallel" in shown
    again = run(catalog_command, "show", "fires", "--yaml", "--patterns", file).stdout
    (tmp_path / "again.yaml").write_text(again)
    events = lines(tmp_path / "e.jsonl", FIRE)
    assert tried(tmp_path / "again.yaml", events) == tried(file, events)
    run(catalog_command, "draw", "fires", "--patterns", file, "-o", tmp_path / "q.dot")
    assert '"type NotIncrTemp" -> "rule R6b" [label="not 5min", style="dashed"];' in (tmp_path / "q.dot").read_text()
    run(catalog_command, "draw", "fires", "--patterns", file, "-o", tmp_path / "q.svg")
    assert (tmp_path / "q.svg").read_text().count('class="rule"') == 3
