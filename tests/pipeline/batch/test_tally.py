"""What is counted of what was found: matches as matches, rows as rows."""

import numpy as np

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.batch.tally import MATCHES, ROWS, counts_of

WHERE = {"a": "x"}
PATTERNS = (
    compile_pattern(spec_of("stay", "a{2,}", WHERE, report=Report.EPISODES)),
    compile_pattern(spec_of("each", "a{2,}", WHERE)),
    compile_pattern(spec_of("sets", "any(a, a)", WHERE, output=Output.ENUMERATE)),
)


def test_an_episode_is_one_match_and_every_listed_set_is_one() -> None:
    recogniser = PatternRecogniser(PATTERNS)
    words = np.array([[1], [1], [1], [1], [0], [1], [1]], dtype=np.int64)
    batch = EventBatch(words, np.arange(7, dtype=np.int64), np.array([0, 7]))
    matches, _ = recogniser.advance(batch, recogniser.fresh(1))
    counts = counts_of(matches, PATTERNS)
    assert {name: counts[MATCHES, name] for name in ("stay", "each", "sets")} == {"stay": 2, "each": 4, "sets": 15}
    assert {name: counts[ROWS, name] for name in ("stay", "each", "sets")} == {"stay": 5, "each": 4, "sets": 15}
