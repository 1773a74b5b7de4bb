"""The trial of changes: what it may change, which tests it runs, and how it counts."""

import time
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from bench.mutant_session import Ran, Record, forked, function_of, functions_of, put_in
from bench.mutant_sites import changes_of, is_python
from bench.mutant_tests import TestChoice
from bench.mutants import (
    CAUGHT,
    EQUAL,
    INTERPRETED,
    ROOT,
    SURVIVED,
    TIMED_OUT,
    Outcome,
    Results,
    sampled,
    summary,
    way_of,
)

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
    chosen = TestChoice(ROOT).tests_for(Path("models/decisions.py"))
    assert chosen[0] == Path("tests/models/test_decisions.py")
    assert Path("tests/models/test_model.py") in chosen
    assert Path("tests/pipeline/jobs/test_forecasting.py") not in chosen


def test_a_seed_draws_the_same_changes_every_time() -> None:
    here = Path("models/kernels")
    one, other = (sampled(ROOT, 7, 5, kernels=False, under=here) for _ in range(2))
    assert one == other
    assert len(one) == 5
    assert all(change.path.is_relative_to(here) and way_of(change, ROOT) != INTERPRETED for change in one)
    assert any(way_of(change, ROOT) == INTERPRETED for change in sampled(ROOT, 7, 20, kernels=True, under=here))


def test_only_what_was_decided_is_counted(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(SOURCE)
    change = changes_of(tmp_path, Path("held.py"))[0]
    told = [Outcome(change, verdict, 1.0) for verdict in (CAUGHT, CAUGHT, CAUGHT, SURVIVED, TIMED_OUT, EQUAL)]
    assert summary(told).startswith("6 changes: 3 of 4 caught (75.0%); 1 known as equivalent, 1 timed out, 0 doubtful")
    assert f"survived: {change}" in summary(told)


def test_a_change_is_put_into_the_functions_of_a_fork_and_into_no_others(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(SOURCE)
    found = spec_from_file_location("held", tmp_path / "held.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    *others, last = changes_of(tmp_path, Path("held.py"))
    functions = functions_of(tmp_path)[tmp_path / "held.py"]

    def ask() -> Iterator[bool]:
        put_in(last, tmp_path, functions)
        yield module.held([2])

    assert last.old == "<="
    assert list(forked(ask, 60)) == [False]
    assert module.held([2])
    inside = [function_of(change, SOURCE) is not None for change in others]
    assert inside == [change.line > 9 for change in others]


def test_a_fork_that_takes_too_long_has_told_what_it_told() -> None:
    def ask() -> Iterator[int]:
        yield 1
        time.sleep(60)
        yield 2

    assert list(forked(ask, 0.5)) == [1]


def test_the_quick_tests_that_enter_a_function_are_asked_first_as_long_as_time_allows(tmp_path: Path) -> None:
    record = Record(tmp_path / "record.jsonl")
    record.add("tests/a/test_it.py", "1", {"own": Ran(3.0, frozenset({"a/it.py:f"}))})
    others = {"slow": 9.0, "quick": 0.1, "quicker": 0.01}
    ran = {test: Ran(seconds, frozenset({"a/it.py:f", "b.py:g"})) for test, seconds in others.items()}
    record.add("tests/b/test_b.py", "1", {**ran, "elsewhere": Ran(0.1, frozenset({"b.py:g"}))})
    kept = Record.read(record.file)
    assert kept.reaching("a/it.py:f".__eq__, Path("tests/a"), 60) == ["own", "quicker", "quick", "slow"]
    assert kept.reaching("a/it.py:f".__eq__, Path("tests/a"), 5) == ["own", "quicker", "quick"]


def test_a_trial_that_goes_on_tries_again_what_was_not_caught(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(SOURCE)
    one, other, *_ = changes_of(tmp_path, Path("held.py"))
    results = Results(tmp_path / "seed.jsonl")
    results.add(Outcome(one, CAUGHT, 1.0, "tests/test_held.py::test_it"))
    results.add(Outcome(other, SURVIVED, 1.0))
    kept = Results(tmp_path / "seed.jsonl")
    assert kept.caught(one) == Outcome(one, CAUGHT, 1.0, "tests/test_held.py::test_it")
    assert kept.caught(other) is None
    assert kept.of(other) == Outcome(other, SURVIVED, 1.0)
