"""Where the sun stands, in additions, multiplications and remainders alone, so that every back end gets the same bits.

A sine of two mathematical libraries may differ in the last place, and day turn into night by that. Here sines are
polynomials of our own, and the formula is written once for any number that knows arithmetic: arrays, Spark columns.
The sun's place is the low-precision one of the Astronomical Almanac (0.01 degrees between 1950 and 2050); it is down
when its upper rim is below the horizon at sea level, with the refraction of sunrise tables: below -0.833 degrees.

Times written in conditions: ISO 8601, in UTC unless an offset is given, as whole microseconds since 1970.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import factorial, pi
from typing import Any, Protocol

HOUR_US, DAY_US = 3.6e9, 8.64e10
DEGREE_US = DAY_US / 360.0
"""How much later it is one degree farther east."""
J2000_US = 946_728_000_000_000.0
"""Noon of the first day of 2000."""
DOWN = -0.01453808050249695
"""The sine of -0.833 degrees."""
FARTHEST_LAT, FARTHEST_LON = 90.0, 360.0
"""Beyond these there is no place, and neither day nor night."""
TERMS = 9


class Numbers(Protocol):
    """What the formula needs beyond + - *: a remainder with the sign of its left side, a size, names for values."""

    def remainder(self, value: Any, divisor: float) -> Any:
        """What is left of the division, exact."""
        ...

    def size(self, value: Any) -> Any:
        """The value without its sign."""
        ...

    def let(self, value: Any, use: Callable[[Any], Any]) -> Any:
        """`use(value)`, with the value worked out once however often it is used."""
        ...


def sine_of_height(numbers: Numbers, time_us: Any, lon: Any, lat: Any) -> Any:
    """The sine of the angle between the sun's middle and the horizon of a place."""

    def at(days: Any) -> Any:
        anomaly = 357.528 + days * 0.9856003
        wobble = _sine(numbers, anomaly) * 1.915 + _sine(numbers, anomaly * 2.0) * 0.020
        return numbers.let(280.460 + days * 0.9856474 + wobble, lambda along: seen(days, along))

    def seen(days: Any, along: Any) -> Any:
        return numbers.let(_sine(numbers, along), lambda sine: above(days, _cosine(numbers, along), sine))

    def above(days: Any, cosine: Any, sine: Any) -> Any:
        tilt = 23.439 - days * 0.0000004
        turned = 280.46061837 + days * 360.98564736629 + lon
        north = _sine(numbers, tilt) * sine
        facing = _cosine(numbers, turned) * cosine + _sine(numbers, turned) * (_cosine(numbers, tilt) * sine)
        return _sine(numbers, lat) * north + _cosine(numbers, lat) * facing

    return numbers.let((time_us - J2000_US) * (1.0 / DAY_US), at)


def _sine(numbers: Numbers, degrees: Any) -> Any:
    return _cosine(numbers, degrees - 90.0)


def _cosine(numbers: Numbers, degrees: Any) -> Any:
    """The cosine, as the sine of an angle between -90 and 90 degrees: the circle is folded twice."""
    folded = numbers.size(numbers.size(numbers.remainder(degrees, 360.0)) - 180.0) - 90.0
    return numbers.let(folded * (pi / 180.0), lambda angle: numbers.let(angle * angle, _series(angle)))


def _series(angle: Any) -> Callable[[Any], Any]:
    def sine(square: Any) -> Any:
        found: Any = 1.0 / factorial(2 * TERMS + 1)
        for term in range(TERMS - 1, -1, -1):
            found = 1.0 / factorial(2 * term + 1) - square * found
        return angle * found

    return sine


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds_of(text: str) -> int | None:
    """The instant that the text names, or None when it names none."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)
