"""What the form of a recogniser says about the run states of its patterns."""

from foresail.patterns.recognition.forms import PatternForm, RecogniserForm
from foresail.patterns.recognition.starts import words_for


def form(*runs: int) -> RecogniserForm:
    return RecogniserForm(tuple(PatternForm(f"p{n}", 1, "", many) for n, many in enumerate(runs)))


def test_room_is_made_for_the_pattern_with_most_runs() -> None:
    assert form(2, 5, 3).most_runs == 5
    assert form(0).most_runs == form().most_runs == 1


def test_the_runs_of_a_pattern_lie_behind_those_of_the_patterns_before_it() -> None:
    assert [form(2, 0, 3).runs_of(n).tolist() for n in range(3)] == [[0, 1], [], [2, 3, 4]]
    assert form(2, 0, 3).runs == 5


def test_a_word_holds_sixty_four_run_states() -> None:
    assert [words_for(runs) for runs in (1, 64, 65, 128, 129)] == [1, 1, 2, 2, 3]
