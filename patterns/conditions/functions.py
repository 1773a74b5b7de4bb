"""Arithmetic of conditions over arrays of doubles. NaN stands for unknown, in what comes in and in what goes out.

The Spark side (`pipeline.conditions.spark`) performs the same operations in the same order, also for the height of the
sun, whose sines are polynomials of our own (`patterns.conditions.sun`). Only for `distance_m` may the results differ:
sine, cosine and arcsine come from two mathematical libraries, which may disagree in the last place, and the arcsine
magnifies that between nearly opposite points of the Earth.
"""

from functools import reduce
from math import pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions.sun import DAY_US, DEGREE_US, HOUR_US
from foresail.patterns.conditions.syntax import Function

Doubles: TypeAlias = NDArray[np.float64]

EARTH_RADIUS_M = 6371008.8
"""The mean radius of the Earth."""
RADIANS_PER_DEGREE = pi / 180.0
THURSDAY = 3.0
"""The first day of 1970 was one: the fourth day of a week that begins on Monday."""


def calculate(operator: str, left: Doubles, right: Doubles) -> Doubles:
    """`left operator right`; what is divided by zero is unknown."""
    with np.errstate(all="ignore"):
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return np.where(right == 0, np.nan, np.divide(left, right))


def call(function: Function, arguments: list[Doubles]) -> Doubles:
    """The function applied to its arguments, unknown as soon as one of them is."""
    with np.errstate(all="ignore"):
        match function:
            case Function.ABS:
                return np.abs(arguments[0])
            case Function.MIN:
                return reduce(np.minimum, arguments)
            case Function.MAX:
                return reduce(np.maximum, arguments)
            case Function.ANGLE:
                return _angle(*arguments)
            case Function.DISTANCE_M:
                return _distance_m(*arguments)
            case Function.SECONDS_SINCE:
                now, then = arguments
                return (now - then) / 1e6
            case Function.FLOOR:
                return np.floor(arguments[0])
            case Function.SQRT:
                return np.sqrt(arguments[0])
            case Function.HOUR:
                return np.floor(_of_day(arguments[0]) / HOUR_US)
            case Function.LOCAL_HOUR:
                time, lon = arguments
                return np.floor(_of_day(time + lon * DEGREE_US) / HOUR_US)
            case Function.WEEKDAY:
                days = (arguments[0] - _of_day(arguments[0])) / DAY_US
                return np.mod(days + THURSDAY, 7.0) + 1.0
            case Function.IS_NIGHT | Function.LOWER | Function.STARTS_WITH:
                msg = f"{function.value} gives no number"
                raise AssertionError(msg)


def _of_day(time_us: Doubles) -> Doubles:
    """Microseconds since midnight. The remainder of doubles is exact, where a quotient would be rounded."""
    return np.mod(time_us, DAY_US)


def _angle(one: Doubles, other: Doubles) -> Doubles:
    apart: Doubles = np.abs(np.fmod(one - other, 360.0))
    return np.minimum(apart, 360.0 - apart)


def _distance_m(lon: Doubles, lat: Doubles, lon2: Doubles, lat2: Doubles) -> Doubles:
    across = np.sin((lat2 - lat) * RADIANS_PER_DEGREE * 0.5)
    along = np.sin((lon2 - lon) * RADIANS_PER_DEGREE * 0.5)
    narrowing = np.cos(lat * RADIANS_PER_DEGREE) * np.cos(lat2 * RADIANS_PER_DEGREE)
    haversine: Doubles = across * across + narrowing * (along * along)
    return 2.0 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.minimum(haversine, 1.0)))
