"""The schedule `train_models` in the real Airflow, on a small simulated feed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from models.store import ModelStore

if TYPE_CHECKING:
    from tests.airflow.conftest import Runs

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.soak]
GOOD, BAD = "route", "parked_moving_swing"


def order(until: str, feed: Path, store: Path, patterns: tuple[str, ...] = (GOOD, BAD), **more: Any) -> dict[str, Any]:
    conf = {"events": str(feed), "models": str(store), "patterns": list(patterns), "budget": 3, **more}
    return {"until": until, "conf": conf}


def failing(folder: Path, airflow_environment: dict[str, str]) -> dict[str, str]:
    """A command that cannot learn one of the patterns, and is `foresail` otherwise."""
    script = folder / "foresail"
    real = airflow_environment["AIRFLOW_FORESAIL_COMMAND"]
    script.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "models learn {BAD}" ] && exit 1\nexec {real} "$@"\n')
    script.chmod(0o755)
    return {"AIRFLOW_FORESAIL_COMMAND": str(script)}


def test_two_days_add_up_a_worse_challenger_waits_and_a_failing_pattern_stops_no_other(
    run_days: "Runs", feed: Path, tmp_path: Path, airflow_environment: dict[str, str]
) -> None:
    place = tmp_path / "models"
    first, second = run_days(
        "train_models",
        order("2026-03-03", feed, place, (GOOD,)),
        order("2026-03-04", feed, place, margin=1.0),
        **failing(tmp_path, airflow_environment),
    )
    store = ModelStore(place)
    assert first["state"] == "success"
    assert first["tasks"]["one_pattern.promote[0]"] == "success"
    learned = {name: state for name, state in second["tasks"].items() if "learn[" in name}
    assert sorted(learned.values()) == ["failed", "success"]
    good = next(name for name, state in learned.items() if state == "success").replace("learn", "promote")
    assert second["tasks"][good] == "skipped"

    one, two = store.versions(GOOD)
    facts = store.record(GOOD).models
    assert facts[two]["events"] > 1.8 * facts[one]["events"]
    assert len(store.counted(GOOD)) == 2
    assert (store.record(GOOD).champion, store.record(GOOD).challenger) == (one, two)
    assert "does not reach the margin of 1" in store.record(GOOD).decisions[-1].why
    assert store.versions(BAD) == []
    trials = store.search(GOOD, two)
    assert trials is not None
    assert len(trials["trials"]) == 3


@pytest.mark.soak
def test_a_week_is_filled_day_by_day_and_a_finished_day_run_again_changes_nothing(
    run_days: "Runs", feed: Path, tmp_path: Path
) -> None:
    """The feed has two days: the other five are intervals without data, and succeed."""
    place = tmp_path / "models"
    days = [f"2026-03-{day:02}" for day in range(3, 10)]
    ended = run_days("train_models", *(order(day, feed, place, (GOOD,)) for day in days))
    assert [run["state"] for run in ended] == ["success"] * 7
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    assert len(json.loads(before[place / "manifest.json"])["patterns"][GOOD]["models"]) == 2
    again = run_days("train_models", order(days[1], feed, place, (GOOD,)))
    assert again[0]["state"] == "success"
    after = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    assert set(after) == set(before)
    assert [file.name for file in before if before[file] != after[file]] == []
