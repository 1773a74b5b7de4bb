"""What each function of conditions takes and gives: one table for the parser, the checks and both back ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from foresail.patterns.conditions.syntax import Call, Function


class AttributeType(Enum):
    """What an attribute's values are, named as an analyst would name it."""

    NUMBER = "a number"
    INTEGER = "an integer"
    STRING = "a text"
    BOOLEAN = "true or false"
    TIMESTAMP = "a time"


NUMBER, STRING, BOOLEAN, TIMESTAMP = (
    AttributeType.NUMBER,
    AttributeType.STRING,
    AttributeType.BOOLEAN,
    AttributeType.TIMESTAMP,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of the arguments in their order, and of the result; with `further`, more of the last may follow."""

    takes: tuple[AttributeType, ...]
    gives: AttributeType = NUMBER
    further: bool = False

    def takes_at(self, place: int) -> AttributeType:
        """The type of the argument at that place, counted from 0."""
        return self.takes[min(place, len(self.takes) - 1)]


SIGNATURES: Mapping[Function, Signature] = {
    Function.ABS: Signature((NUMBER,)),
    Function.MIN: Signature((NUMBER, NUMBER), further=True),
    Function.MAX: Signature((NUMBER, NUMBER), further=True),
    Function.ANGLE: Signature((NUMBER, NUMBER)),
    Function.DISTANCE_M: Signature((NUMBER, NUMBER, NUMBER, NUMBER)),
    Function.SECONDS_SINCE: Signature((TIMESTAMP,)),
    Function.FLOOR: Signature((NUMBER,)),
    Function.SQRT: Signature((NUMBER,)),
    Function.HOUR: Signature((TIMESTAMP,)),
    Function.WEEKDAY: Signature((TIMESTAMP,)),
    Function.LOCAL_HOUR: Signature((TIMESTAMP, NUMBER)),
    Function.IS_NIGHT: Signature((TIMESTAMP, NUMBER, NUMBER), BOOLEAN),
    Function.LOWER: Signature((STRING,), STRING),
    Function.STARTS_WITH: Signature((STRING, STRING), BOOLEAN),
}


def type_given(call: Call) -> AttributeType:
    """The type of what a call gives."""
    return SIGNATURES[call.function].gives
