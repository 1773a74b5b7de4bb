"""The trial of changes: what it may change, which tests it runs, and how it counts."""

from pathlib import Path

from bench.mutant_sites import changes_of, is_python
from bench.mutant_tests import TestChoice
from bench.mutants import CAUGHT, EQUAL, ROOT, SURVIVED, TIMED_OUT, Outcome, sampled, summary

SOURCE = '''"""Says 1 < 2."""

from math import inf

MOST, LEAST = 1 << 3, 4
TABLE = {"a": 1}


def held(values: "list[int] | None", most: int = 2) -> bool | None:
    """Whether 1 is there."""
    if not values or max(values) > inf:
        msg = f"{values} and 1"
        raise ValueError(msg + "2")
    return [*values][0] <= most
'''


def test_only_code_that_decides_something_is_changed(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(SOURCE)
    found = [change for change in changes_of(tmp_path, Path("held.py")) if is_python(change, tmp_path)]
    assert [(change.line, change.old, change.new) for change in found] == [
        (6, "1", "2"),
        (9, "2", "3"),
        (11, "not", ""),
        (11, "or", "and"),
        (11, "max", "min"),
        (11, ">", ">="),
        (14, "0", "1"),
        (14, "<=", "<"),
    ]
    assert found[-1].applied(SOURCE) == SOURCE.replace("<= most", "< most")


def test_the_tests_of_a_module_s_own_room_come_first_and_those_of_spark_not_at_all() -> None:
    chosen = TestChoice(ROOT).tests_for(Path("models/kinds.py"))
    assert chosen[0] == Path("tests/models/test_kinds.py")
    assert Path("tests/models/test_model.py") in chosen
    assert Path("tests/pipeline/jobs/test_forecasting.py") not in chosen


def test_a_seed_draws_the_same_changes_every_time() -> None:
    one, other = sampled(ROOT, 7, 5, kernels=False), sampled(ROOT, 7, 5, kernels=False)
    assert one == other
    assert len(one) == 5
    assert all(not str(change.path).startswith(("patterns/recognition", "models/kernels")) for change in one)


def test_only_what_was_decided_is_counted(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(SOURCE)
    change = changes_of(tmp_path, Path("held.py"))[0]
    told = [Outcome(change, verdict, 1.0) for verdict in (CAUGHT, CAUGHT, CAUGHT, SURVIVED, TIMED_OUT, EQUAL)]
    assert summary(told).startswith("6 changes: 3 of 4 caught (75.0%); 1 known as equivalent, 1 timed out, 0 doubtful")
    assert f"survived: {change}" in summary(told)
