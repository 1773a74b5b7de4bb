"""An event whose condition bits no minterm allows: conditions that were declared exclusive held together."""

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.errors import PatternError
from foresail.patterns.recognition.joint import class_of_event
from foresail.patterns.recognition.tables import Plan


class ImpossibleEventError(PatternError):
    """The events contradict what a pattern declares about its conditions."""


def impossible_event(plan: Plan, words: NDArray[np.int64], event: int) -> ImpossibleEventError:
    """The fault, naming the pattern and the conditions that held together."""
    for number, pattern in enumerate(plan.patterns):
        if class_of_event(plan.tables, number, words, event) < 0:
            first = int(plan.tables.bits_at[number])
            held = [
                name
                for i, name in enumerate(pattern.condition_names)
                if int(words[event, plan.tables.bits[first + i] >> 6]) >> int(plan.tables.bits[first + i] & 63) & 1
            ]
            msg = (
                f"{pattern.name}: conditions {', '.join(held)} held on one event, but `exclusive` says that "
                "they cannot. Take them out of `exclusive`."
            )
            return ImpossibleEventError(msg)
    msg = "the catalog: an event has condition bits that no pattern knows. Evaluate the conditions of this plan."
    return ImpossibleEventError(msg)
