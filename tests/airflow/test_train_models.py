"""The schedules of models and matches in the real Airflow: a week of a small simulated feed, filled day by day."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from foresail.models.store import ModelStore

if TYPE_CHECKING:
    from tests.airflow.conftest import Ended, Runs

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.timeout(1800)]
GOOD, BAD = "route", "parked_moving_swing"
WEEK = [f"2026-03-{day:02}" for day in range(3, 10)]
"""The ends of seven days. The feed has the first two: the others are intervals without data."""


def training(
    until: str | None, feed: Path, store: Path, patterns: tuple[str, ...] = (GOOD,), **more: Any
) -> dict[str, Any]:
    conf = {"events": str(feed), "models": str(store), "patterns": list(patterns), "budget": 3} | more
    return {"dag": "train_models", "until": until, "conf": conf}


def failing(folder: Path, airflow_environment: dict[str, str]) -> dict[str, str]:
    """A command that cannot learn one of the patterns, and is `foresail` otherwise."""
    script = folder / "foresail"
    real = airflow_environment["AIRFLOW_FORESAIL_COMMAND"]
    script.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "models learn {BAD}" ] && exit 1\nexec {real} "$@"\n')
    script.chmod(0o755)
    return {"AIRFLOW_FORESAIL_COMMAND": str(script)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "models"


@pytest.fixture(scope="module")
def week(run_days: "Runs", feed: Path, place: Path, airflow_environment: dict[str, str]) -> "Ended":
    """Seven days; the second with a pattern that cannot be learned, then the same again, then with a wider search.

    At last, the past is recognised anew.

    On this feed the one setting of a budget of 1 happens to judge better than the best of 3: that search is worse.
    """
    first, second, *others = WEEK
    twice = training(second, feed, place, (GOOD, BAD), budget=1)
    calm = training(f"{second}T02:00:00", feed, place, tolerance=0.1, budget=40) | {"dag": "evaluate_live"}
    strict = training(f"{second}T02:30:00", feed, place, tolerance=0.001, budget=40) | {"dag": "evaluate_live"}
    by_hand = training(None, feed, place) | {"after": f"{WEEK[-1]}T05:00:00"}
    conf = {"events": str(feed), "patterns": [GOOD], "matches": str(place.parent / "past")}
    past = {"dag": "recognise_history", "until": WEEK[-1], "conf": conf}
    return run_days(
        training(first, feed, place),
        twice,
        twice,
        training(second, feed, place),
        calm,
        strict,
        *(training(day, feed, place) for day in others[:-1]),
        by_hand,
        past,
        **failing(place.parent, airflow_environment),
    )


def tasks(run: dict[str, Any], name: str) -> list[str]:
    return sorted(state for task, state in run["tasks"].items() if task.startswith(f"{name}["))


def test_the_second_day_adds_to_the_counts_of_the_first(week: "Ended", place: Path) -> None:
    first, store = week.runs[0], ModelStore(place)
    assert first["state"] == "success"
    assert tasks(first, "one_pattern.promote") == tasks(first, "one_pattern.tell") == ["success"]
    one, two, _ = store.versions(GOOD)
    facts = store.record(GOOD).models
    assert facts[two]["events"] > 1.8 * facts[one]["events"]
    assert facts[two]["matches"] > facts[one]["matches"]
    assert len(store.counted(GOOD)) == 2


def test_the_search_is_recorded_with_the_model(week: "Ended", place: Path) -> None:
    searches = [ModelStore(place).search(GOOD, version) for version in ModelStore(place).versions(GOOD)]
    assert [search and search["budget"] for search in searches] == [3, 1, 3]
    for search in searches:
        assert search is not None
        assert len(search["trials"]) == search["budget"]
        assert all({"order", "smoothing", "ratio", "threshold", "value"} <= set(trial) for trial in search["trials"])


def test_a_better_challenger_is_promoted_and_a_worse_one_is_not(week: "Ended", place: Path) -> None:
    record, (one, two, three) = ModelStore(place).record(GOOD), ModelStore(place).versions(GOOD)
    assert (record.champion, record.challenger, record.earlier) == (two, three, (one,))
    of_two, of_three = record.scored(two), record.scored(three)
    assert of_two is not None
    assert of_three is not None
    assert of_two.data == of_three.data
    assert of_three.values["mcc"] < of_two.values["mcc"]
    assert [(told.what, told.version) for told in record.decisions] == [
        ("promoted", one),
        ("promoted", two),
        ("kept", three),
    ]
    assert "at least the margin of 0.01" in record.decisions[1].why
    assert "does not reach the margin of 0.01" in record.decisions[2].why
    assert tasks(week.runs[3], "one_pattern.promote") == tasks(week.runs[3], "one_pattern.tell") == ["skipped"]
    assert week.runs[3]["state"] == "success"


def test_a_pattern_whose_learning_fails_stops_no_other(week: "Ended", place: Path) -> None:
    second = week.runs[1]
    assert tasks(second, "one_pattern.learn") == ["failed", "success"]
    assert tasks(second, "one_pattern.promote") == ["success", "upstream_failed"]
    assert ModelStore(place).versions(BAD) == []
    assert len(ModelStore(place).counted(BAD)) == 1


def test_a_finished_day_that_is_run_again_changes_nothing(week: "Ended") -> None:
    second, again = week.runs[1:3]
    assert tasks(again, "one_pattern.learn") == ["failed", "success"], "it did run again"
    assert again["store"] == second["store"]


def test_a_degraded_champion_is_learned_anew_with_a_wider_search(week: "Ended", feed: Path, place: Path) -> None:
    calm, strict = week.runs[4:6]
    assert calm["tasks"] == {"live[-1]": "skipped", "retrain[-1]": "skipped"}
    assert (calm["state"], calm["started"]) == ("success", [])
    assert strict["tasks"] == {"live[-1]": "success", "retrain[-1]": "success"}
    (started,) = strict["started"]
    assert started["logical_date"].startswith("2026-03-04 02:30"), "the day that was judged is trained again"
    assert (started["conf"]["budget"], started["conf"]["patterns"], started["conf"]["layers"]) == (40, [GOOD], None)
    assert (started["conf"]["events"], started["conf"]["models"]) == (str(feed), str(place))


def test_seven_days_are_filled_and_those_without_events_succeed_and_say_so(week: "Ended") -> None:
    empty = week.runs[6:11]
    assert len(empty) == 5
    for run in empty:
        assert run["state"] == "success"
        assert (tasks(run, "count"), tasks(run, "merge")) == (["success"], ["success"])
        assert set(tasks(run, "one_pattern.learn")) <= {"skipped"}
        assert run["store"] == week.runs[5]["store"]
    assert week.log.count("nothing is counted") >= 5


def test_a_run_without_a_data_interval_looks_at_the_last_whole_day(week: "Ended") -> None:
    assert "from 2026-03-08 00:00:00+00:00 to 2026-03-09 00:00:00+00:00: nothing is counted" in week.log


def test_the_past_is_recognised_by_the_catalog_as_it_is(week: "Ended", place: Path) -> None:
    past = week.runs[11]
    assert (past["state"], past["tasks"]) == ("success", {"recognise[-1]": "success"})
    matches = ds.dataset(place.parent / "past" / "matches").to_table(columns=["pattern"])
    assert set(matches.column("pattern").to_pylist()) == {GOOD}
