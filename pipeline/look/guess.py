"""From columns to canonical columns: which is what, in which unit, and what cannot be told from the file alone.

The unit of a speed, told from how far the positions really are apart; silent where that does not decide.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations, pairwise
from math import asin, cos, log, radians, sin, sqrt
from statistics import quantiles
from typing import Literal

from foresail.pipeline.look.profile import Profile
from foresail.pipeline.look.roles import FLEET_WORDS, MARITIME_WORDS, unit_of, words_of
from foresail.pipeline.look.times import WHOLE_NUMBER, Decimal, TimeForm, is_mostly, joined_form
from foresail.pipeline.sources.mapped import FILE

Domain = Literal["maritime", "fleet"]
SCALES = (1e-7, 1e-6, 1e-5, 1e-4, 1 / 600_000)
"""What whole numbers of degrees are often counted in; the last is AIS's ten-thousandth of a minute."""
MOST_TRACKS_SHARE = 0.9
FEW_ROWS = 20
COORDINATE_PAIR = re.compile(r"(POINT\s*)?[\[(]\s*-?\d+(\.\d+)?[,\s]\s*-?\d+(\.\d+)?\s*[\])]", re.ASCII | re.IGNORECASE)
"""`POINT (9.9 57.5)` or `[9.9, 57.5]`."""
LESS_SURE = ("trip", "name", "imo", "driver")
"""Columns that name a track only where nothing better does."""
METRES_FROM = 1000.0
ANGLE_TURN_RAD = 6.3
ENGINE_CODES = {"on": "moving", "off": "off", "true": "moving", "false": "off", "1": "moving", "0": "off"}


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """Where a canonical column comes from."""

    role: str
    columns: tuple[str, ...]
    """The column in the file; two for a date and a time of day that stand apart."""
    unit: str | None = None
    decimal: Decimal = "."
    scale: float | None = None
    missing: tuple[float, ...] = ()
    time: TimeForm | None = None
    codes: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """What the columns of a table seem to be."""

    domain: Domain
    columns: tuple[ColumnGuess, ...]
    doubts: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    """What a position needs and no column seems to be."""

    def of(self, role: str) -> ColumnGuess | None:
        """The guess for one canonical column."""
        return next((guess for guess in self.columns if guess.role == role), None)

    @property
    def used(self) -> set[str]:
        """The columns of the file that became canonical ones."""
        return {name for guess in self.columns for name in guess.columns}


@dataclass(slots=True)
class _Choosing:
    """The columns that are still to be had, and what was decided and doubted on the way."""

    profiles: list[Profile]
    chosen: list[ColumnGuess] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def best(self, role: str, fits: Callable[[Profile], bool]) -> Profile | None:
        """The column left whose name says `role` most surely and whose values allow it."""
        left = [profile for profile in self.left() if profile.rank(role) is not None and fits(profile)]
        return min(left, key=lambda profile: profile.rank(role) or 0, default=None)

    def left(self) -> list[Profile]:
        """Columns with values that are nothing yet."""
        taken = {name for guess in self.chosen for name in guess.columns}
        return [profile for profile in self.profiles if profile.filled and profile.name not in taken]

    def take(self, role: str, profile: Profile, **further: object) -> None:
        """Decide that `profile` is `role`."""
        guess = ColumnGuess(role, (profile.name,), decimal=profile.decimal, missing=profile.missing)
        self.chosen.append(replace(guess, **further))  # type: ignore[arg-type]


def guess_columns(profiles: Sequence[Profile], named: bool = True, domain: Domain | None = None) -> Guess:
    """The canonical columns among `profiles`; `named` says whether the file names its columns."""
    choosing = _Choosing(list(profiles))
    domain = domain or _domain(choosing)
    _choose_time(choosing)
    _choose_place(choosing, named)
    _choose_identity(choosing, named)
    _choose_motion(choosing, domain)
    _choose_further(choosing, domain)
    found = {guess.role for guess in choosing.chosen}
    lacking = [role for role in ("time", "lon", "lat") if role not in found]
    return Guess(domain, tuple(choosing.chosen), tuple(choosing.doubts), tuple(lacking))


def _domain(choosing: _Choosing) -> Domain:
    words = {word for profile in choosing.profiles for word in words_of(profile.name)}
    at_sea, on_land = len(words & MARITIME_WORDS), len(words & FLEET_WORDS)
    if at_sea == on_land:
        choosing.doubts.append(
            "vessels or vehicles? No column tells; vehicles are assumed. Write `domain: maritime` for vessels."
        )
    return "maritime" if at_sea > on_land else "fleet"


def _choose_time(choosing: _Choosing) -> None:
    profile = choosing.best("time", lambda column: column.time is not None)
    if profile is None:
        dated = [column for column in choosing.left() if column.time and column.time.kind in ("iso", "pattern")]
        epochs = [column for column in choosing.left() if column.time and column.time.kind == "epoch"]
        profile = next(iter(dated + epochs), None)
    if profile is not None and profile.time is not None:
        choosing.take("time", profile, time=profile.time, unit=profile.time.unit, decimal=".", missing=())
        _doubt_time(choosing, profile.name, profile.time, profile.examples[0])
        return
    days = [column for column in choosing.left() if column.is_date]
    clocks = [column for column in choosing.left() if column.is_clock]
    if days and clocks:
        pairs = [
            (date, clock)
            for date, clock in zip(days[0].column.cells, clocks[0].column.cells, strict=True)
            if date and clock
        ]
        form = joined_form([date for date, _ in pairs], [clock for _, clock in pairs], days[0].now) if pairs else None
        if form:
            choosing.chosen.append(ColumnGuess("time", (days[0].name, clocks[0].name), time=form))
            _doubt_time(choosing, f"{days[0].name} and {clocks[0].name}", form, " ".join(pairs[0]))


def _doubt_time(choosing: _Choosing, name: str, form: TimeForm, example: str) -> None:
    if form.other_order:
        words = {"dmy": "day first", "mdy": "month first"}
        choosing.doubts.append(
            f"{name}: '{example}' may be day first or month first, and no row of the head decides it; "
            f"{words[form.order]} is assumed. Say --day-first or --month-first, or turn `format` round."
        )
    if form.kind == "serial":
        choosing.doubts.append(f"{name}: '{example}' is taken for the days since 1899-12-30 of a spreadsheet.")
    elif form.kind in ("iso", "pattern") and not form.zoned and "utc" not in words_of(name):
        choosing.doubts.append(f"{name}: no time zone is named; UTC is assumed. Write e.g. `zone: Europe/Oslo` if not.")


def _choose_place(choosing: _Choosing, named: bool) -> None:
    if _choose_swapped(choosing):
        return
    for role, most in (("lon", 180.0), ("lat", 90.0)):
        profile = choosing.best(role, lambda column, most=most: _scale(column, most) is not None)  # type: ignore[misc]
        if profile is not None:
            scale = _scale(profile, most)
            choosing.take(role, profile, scale=None if scale == 1.0 else scale)
        else:
            _doubt_place(choosing, role)
    found = {guess.role for guess in choosing.chosen}
    if not {"lon", "lat"} & found and not named:
        _place_by_values(choosing)
    if not {"lon", "lat"} & found:
        _doubt_pairs(choosing)


def _choose_swapped(choosing: _Choosing) -> bool:
    """Take columns whose names are the wrong way round: only one of the two can be a latitude, and it is called lon."""
    lat, lon = (choosing.best(role, lambda column: _scale(column, 180.0) == 1.0) for role in ("lat", "lon"))
    if lat is None or lon is None or _scale(lat, 90.0) == 1.0 or _scale(lon, 90.0) != 1.0:
        return False
    choosing.take("lon", lat)
    choosing.take("lat", lon)
    choosing.doubts.append(f"{lat.name} and {lon.name}: are taken the other way round, as {lat.name} is beyond 90.")
    return True


def _scale(profile: Profile, most: float) -> float | None:
    """What the numbers of a column must be multiplied with to be degrees up to `most`; None if nothing will do."""
    numbers = [abs(value) for value in profile.numbers]
    if not profile.is_number or not numbers:
        return None
    numbers.sort()
    usual = numbers[int(len(numbers) * 0.95) - (1 if len(numbers) > 1 else 0)]
    if usual <= most + 1:
        return 1.0
    whole = is_mostly(WHOLE_NUMBER, profile.filled)
    return next((scale for scale in SCALES if usual * scale <= most + 1 and usual >= 1e5), None) if whole else None


def _doubt_place(choosing: _Choosing, role: str) -> None:
    profile = choosing.best(role, lambda column: bool(column.filled))
    if profile is None:
        return
    example = profile.examples[0]
    if profile.is_grouped:
        why = "has signs between its thousands, which cannot be read: write plain numbers"
    elif profile.is_number and max(map(abs, profile.numbers), default=0.0) > METRES_FROM:
        why = "is beyond any degree: metres of a map projection? Convert it to degrees of longitude and latitude"
    else:
        why = "is no decimal degree: convert it"
    choosing.doubts.append(f"{profile.name}: looks like {role} by its name, but '{example}' {why}.")


def _doubt_pairs(choosing: _Choosing) -> None:
    """Say that a column holds both coordinates in one cell, which no mapping takes apart."""
    for profile in choosing.left():
        if is_mostly(COORDINATE_PAIR, profile.filled):
            choosing.doubts.append(
                f"{profile.name}: '{profile.examples[0]}' holds both coordinates: write them in two columns."
            )


def _place_by_values(choosing: _Choosing) -> None:
    """Two neighbouring columns of fractions within the ranges; which is which may remain open."""
    degrees = [
        column
        for column in choosing.left()
        if column.is_number
        and any("." in text or "," in text for text in column.filled)
        and max(map(abs, column.numbers), default=999.0) <= 180
    ]
    for first, second in combinations(degrees, 2):
        sizes = [max(map(abs, column.numbers)) for column in (first, second)]
        if max(sizes) > 90 and min(sizes) <= 90:
            lon, lat = (first, second) if sizes[0] > 90 else (second, first)
        else:
            lon, lat = first, second
            choosing.doubts.append(
                f"{first.name} and {second.name} are taken for longitude and latitude; nothing tells which is which."
            )
        choosing.take("lon", lon)
        choosing.take("lat", lat)
        return


def _choose_identity(choosing: _Choosing, named: bool) -> None:
    mmsi = choosing.best("mmsi", lambda column: _share_of_mmsi(column) >= 0.5)
    if mmsi:
        choosing.take("mmsi", mmsi, missing=())
        return
    track = choosing.best("track", lambda column: _names_tracks(column) and column.name != "name")
    if track is None and not named:
        kinds = ("long", "string")
        track = next((c for c in choosing.left() if _names_tracks(c) and c.kind in kinds and _differs(c)), None)
        if track is not None:
            choosing.doubts.append(f"{track.name}: is taken for the name of the vessel or vehicle.")
    if track is not None:
        choosing.take("track", track, missing=())
        if set(words_of(track.name)) & set(LESS_SURE):
            choosing.doubts.append(
                f"{track.name}: is taken for the name of the vessel or vehicle; no better one is there."
            )
        return
    choosing.chosen.append(ColumnGuess("track", (FILE,)))
    named_alike = [column.name for column in choosing.left() if not column.is_number and _names_tracks(column)]
    perhaps = f" ({', '.join(named_alike[:5])}?)" if named_alike else ""
    choosing.doubts.append(
        "no column surely names the vessel or vehicle: each file is taken for one track. "
        f"Name a column at `track:` if there is one{perhaps}."
    )


def _share_of_mmsi(profile: Profile) -> float:
    nine = sum(1 for text in profile.filled if len(text.partition(".")[0]) == 9 and text.partition(".")[0].isdigit())
    return nine / len(profile.filled) if profile.filled else 0.0


def _names_tracks(profile: Profile) -> bool:
    """Whether values come again, as those of a name do and those of a row number do not."""
    if profile.share < 0.5 or (profile.is_number and profile.kind not in ("long", "string")):
        return False
    return len(profile.filled) < FEW_ROWS or len(set(profile.filled)) <= MOST_TRACKS_SHARE * len(profile.filled)


def _differs(profile: Profile) -> bool:
    """Whether a column that nobody named says more than one thing; a single row says what it says."""
    return len(profile.filled) == 1 or len(set(profile.filled)) > 1


def _choose_motion(choosing: _Choosing, domain: Domain) -> None:
    speed = choosing.best("speed", lambda column: column.is_number)
    if speed is not None:
        role = "speed_kn" if domain == "maritime" else "speed_kmh"
        unit = unit_of(speed.name, ("km/h", "m/s", "mph", "kn"))
        if unit is None and "sog" in words_of(speed.name):
            unit = "kn"
        choosing.take(role, speed, unit=unit)
    for role in ("course_deg", "heading_deg"):
        angle = choosing.best(role, lambda column: column.is_number)
        if angle is not None:
            unit = unit_of(angle.name, ("rad", "deg"))
            small = max(map(abs, angle.numbers), default=0.0) <= ANGLE_TURN_RAD
            if unit is None and small and len(set(angle.numbers)) > 5:
                choosing.doubts.append(f"{angle.name}: radians? No value is above 6.3; degrees are assumed.")
            choosing.take(role, angle, unit="rad" if unit == "rad" else None)


def _choose_further(choosing: _Choosing, domain: Domain) -> None:
    if domain == "maritime":
        _take_numbers(choosing, "turn_rate", lambda column: bool(column.numbers))
        _take_numbers(choosing, "nav_status", lambda column: all(0 <= value <= 15 for value in column.numbers))
        _take_numbers(choosing, "ship_type", lambda column: all(0 <= value <= 99 for value in column.numbers))
        kind = choosing.best("vessel_type", lambda column: not column.is_number)
        if kind is not None:
            choosing.take("vessel_type", kind)
        length = choosing.best("length_m", lambda column: column.is_number)
        if length is not None:
            choosing.take("length_m", length, unit="ft" if unit_of(length.name, ("ft",)) else None)
    else:
        fuel = choosing.best("fuel_level", lambda column: column.is_number)
        if fuel is not None:
            choosing.take("fuel_level", fuel, unit="percent" if max(fuel.numbers, default=0.0) > 1 else None)
        _take_numbers(choosing, "satellites", lambda column: all(0 <= value <= 99 for value in column.numbers))
        engine = choosing.best("engine", lambda column: {text.lower() for text in column.filled} <= set(ENGINE_CODES))
        if engine is not None:
            seen = dict.fromkeys(text.lower() for text in engine.filled)
            choosing.take("engine", engine, codes={text: ENGINE_CODES[text] for text in seen})
    name = choosing.best("name", lambda column: not column.is_number)
    if name is not None:
        choosing.take("name", name)


def _take_numbers(choosing: _Choosing, role: str, fits: Callable[[Profile], bool]) -> None:
    profile = choosing.best(role, lambda column: column.is_number and fits(column))
    if profile is not None:
        choosing.take(role, profile)


METRES_PER_SECOND = {"m/s": 1.0, "km/h": 1 / 3.6, "kn": 1852 / 3600, "mph": 1609.344 / 3600}
EARTH_M = 6_371_008.8
LEAST_STEPS = 12
SHORTEST_S, LONGEST_S = 1.0, 120.0
LEAST_STEP_M = 25.0
WITHIN = 0.07
"""Knots and miles an hour are 15% apart: half of that decides."""
MOST_SPREAD = 1.35
"""Of the upper quartile to the lower: stop and go between two positions says nothing of the unit."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A position with the speed that the feed reports, in whatever unit."""

    track: str
    time: datetime
    lon: float
    lat: float
    speed: float


def unit_by_motion(fixes: Iterable[Fix]) -> str | None:
    """The unit in which the reported speeds are those of the steps between positions; None where none clearly is."""
    ratios = _ratios(sorted(fixes, key=lambda fix: (fix.track, fix.time)))
    if len(ratios) < LEAST_STEPS:
        return None
    low, middle, high = quantiles(ratios, n=4)
    if high > MOST_SPREAD * low:
        return None
    unit, factor = min(METRES_PER_SECOND.items(), key=lambda entry: abs(log(middle / entry[1])))
    return unit if abs(log(middle / factor)) <= WITHIN else None


def _ratios(fixes: Sequence[Fix]) -> list[float]:
    """Metres a second for each unit of the reported speed, of every step that is long and steady enough to tell."""
    ratios: list[float] = []
    for one, other in pairwise(fixes):
        seconds = (other.time - one.time).total_seconds()
        if one.track != other.track or not SHORTEST_S <= seconds <= LONGEST_S or min(one.speed, other.speed) <= 0:
            continue
        metres = distance_m(one, other)
        steady = max(one.speed, other.speed) <= 1.25 * min(one.speed, other.speed)
        if metres >= LEAST_STEP_M and steady:
            ratios.append(metres / seconds / ((one.speed + other.speed) / 2))
    return ratios


def distance_m(one: Fix, other: Fix) -> float:
    """The distance on a sphere."""
    half_lat, half_lon = radians(other.lat - one.lat) / 2, radians(other.lon - one.lon) / 2
    chord = sin(half_lat) ** 2 + cos(radians(one.lat)) * cos(radians(other.lat)) * sin(half_lon) ** 2
    return 2 * EARTH_M * asin(sqrt(min(1.0, chord)))
