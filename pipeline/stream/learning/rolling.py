"""Rolling scores of a pattern's forecasts: the last so many settled ones."""

from collections import deque
from dataclasses import dataclass, field
from math import sqrt

COUNTED = ("tp", "fp", "fn", "tn", "squares")


@dataclass(slots=True)
class Rolling:
    """Outcomes of the last `window` forecasts, in the portions in which they came."""

    window: int
    portions: deque[dict[str, float]] = field(default_factory=deque)

    def add(self, outcomes: dict[str, float]) -> None:
        """Take in settled forecasts, and let go of the oldest beyond the window."""
        self.portions.append({name: float(outcomes[name]) for name in COUNTED})
        while len(self.portions) > 1 and self.settled() - _number(self.portions[0]) >= self.window:
            self.portions.popleft()

    def settled(self) -> float:
        """How many forecasts the scores look back on."""
        return sum(map(_number, self.portions))

    def scores(self) -> dict[str, float]:
        """F1, MCC, Brier score and how many forecasts they rest on."""
        tp, fp, fn, tn, squares = (sum(portion[name] for portion in self.portions) for name in COUNTED)
        number = tp + fp + fn + tn
        spread = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return {
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0,
            "mcc": (tp * tn - fp * fn) / spread if spread else 0.0,
            "brier": squares / number if number else 0.0,
            "settled": number,
        }

    def tells(self) -> bool:
        """Whether the scores rest on enough forecasts to be judged by."""
        return self.settled() >= self.window / 2


def _number(portion: dict[str, float]) -> float:
    return portion["tp"] + portion["fp"] + portion["fn"] + portion["tn"]
