from pathlib import Path

import numpy as np

from foresail.models.counts import Counts, count, merge
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import spec_of
from foresail.pipeline.stream.learning.training import MOST_FILES, TAKEN, KeptCounts

PATTERN = compile_pattern(spec_of("stays", "slow{3,}", {"slow": "x < 1"}))


def some_counts(seed: int, events: int = 50) -> Counts:
    symbols = np.random.default_rng(seed).integers(0, 2, events).astype(np.int32)
    times = np.arange(events, dtype=np.int64) * 60_000_000
    return count(symbols, times, np.array([0, events]), PATTERN, 3)


def whole(kept: KeptCounts) -> dict[object, object]:
    return dict(merge(kept.take(0)[1]).as_dictionary())


def test_a_restart_finds_every_count_once_and_a_repeated_batch_replaces_its_own(tmp_path: Path) -> None:
    kept = KeptCounts(tmp_path, 0)
    for batch in range(5):
        kept.add(batch, [some_counts(batch), some_counts(100 + batch)])
    again = KeptCounts(tmp_path, 0)
    again.add(4, [some_counts(4), some_counts(104)])
    assert again.events == kept.events == 500
    assert whole(again) == dict(merge([some_counts(n + k) for n in range(5) for k in (0, 100)]).as_dictionary())


def test_many_batches_are_few_files_and_the_same_counts(tmp_path: Path) -> None:
    kept = KeptCounts(tmp_path, 0)
    for batch in range(3 * MOST_FILES):
        kept.add(batch, [some_counts(batch, 8)])
    assert len(list(tmp_path.glob("*.counts"))) <= MOST_FILES + 1
    expected = dict(merge([some_counts(batch, 8) for batch in range(3 * MOST_FILES)]).as_dictionary())
    assert whole(KeptCounts(tmp_path, 0)) == expected


def test_what_a_model_was_learned_from_is_counted_once_wherever_it_was_killed(tmp_path: Path) -> None:
    kept = KeptCounts(tmp_path, 1000)
    kept.add(1, [some_counts(1)])
    kept.take(1000)
    kept.add(2, [some_counts(2)])
    before = KeptCounts(tmp_path, 1000)
    assert before.events == 100, "the store did not get them: they are still here"
    before.take(1000)
    assert (tmp_path / TAKEN).exists()
    assert KeptCounts(tmp_path, 1100).events == 0, "the store has them"


def test_counts_that_came_meanwhile_stay(tmp_path: Path) -> None:
    kept = KeptCounts(tmp_path, 0)
    kept.add(7, [some_counts(1)])
    upto, _ = kept.take(0)
    kept.add(8, [some_counts(2)])
    kept.forget(upto)
    assert kept.events == KeptCounts(tmp_path, 50).events == 50
