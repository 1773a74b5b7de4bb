"""A simulated week trained day by day, with the commands that the schedule `train_models` runs.

    .venv/bin/python -m bench.scheduling [--tracks 80] [--days 7] [--out bench/results]

The days are counted in one Spark job, each as an interval of its own. Then, as of the end of each day: add up what was
counted until then, and for each pattern learn, evaluate against the champion, promote if better. The table says what
was learned, how both did on held-out tracks, and what was decided.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FORESAIL = str(Path(sys.executable).with_name("foresail"))
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
PATTERNS = ("route", "moving_with_zero_speed")
MARGIN = 0.01


def foresail(*words: str) -> dict[str, Any]:
    """The JSON that a command ends with."""
    done = subprocess.run([FORESAIL, *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{' '.join(words)}: {done.stderr.strip()}"
        raise SystemExit(msg)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def moment(day: int) -> str:
    return (BEGIN + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%S")


def count_days(days: int, events: Path, models: Path) -> None:
    named = [word for name in PATTERNS for word in ("--patterns", name)]
    times = ("--from", moment(0), "--to", moment(days), "--each-day")
    words = ("--count-only", "--events", str(events), *named, "--models", str(models), *times, "-q")
    foresail("train", *words)


def train_day(day: int, models: Path) -> list[dict[str, Any]]:
    store = ("--models", str(models))
    until = ("--to", moment(day + 1))
    rows = []
    for pattern in foresail("models", "merge", *store, "--from", moment(day), *until)["patterns"]:
        learned = foresail("models", "learn", pattern, *store, *until)
        judged = foresail("models", "evaluate", pattern, *store, *until)
        decided = foresail("models", "promote", pattern, *store, "--if-better", str(MARGIN))
        row = {"day": moment(day)[:10], "pattern": pattern, "learned": learned, "scores": judged["scores"]}
        rows.append(row | {"promoted": decided["promoted"], "why": decided["why"]})
        print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def as_table(rows: list[dict[str, Any]]) -> str:
    """One line for each day and pattern; the challenger is the model of the day, the champion one of an earlier day."""
    lines = ["| day | model of the days until then | order | events | matches | its MCC | champion's MCC | decision |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|---|")
    for row in rows:
        learned, scores = row["learned"], row["scores"]
        lines.append(
            f"| {row['day']} | `{learned['model_version']}` | {learned['order']} | {learned['events']:,} "
            f"| {learned['matches']:,} | {_score(scores, 'challenger')} | {_score(scores, 'champion')} "
            f"| {'promoted' if row['promoted'] else 'kept'}: {row['why'].rpartition(': ')[2]} |"
        )
    return "\n".join(lines) + "\n"


def _score(scores: dict[str, Any], alias: str) -> str:
    return f"{scores[alias]['mcc']:.3f}" if alias in scores else "none"


def train_week(work: Path, tracks: int, days: int) -> list[dict[str, Any]]:
    events, models = work / "fleet", work / "models"
    size = ("--tracks", str(tracks), "--days", str(days))
    foresail("simulate", "--domain", "fleet", *size, "--seed", "5", "--out", str(events), "-q")
    count_days(days, events, models)
    return [row for day in range(days) for row in train_day(day, models)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=80)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="foresail-week-") as work:
        rows = train_week(Path(work), asked.tracks, asked.days)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "scheduling.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (asked.out / "scheduling.md").write_text(as_table(rows), encoding="utf-8")
    print(as_table(rows))


if __name__ == "__main__":
    main()
