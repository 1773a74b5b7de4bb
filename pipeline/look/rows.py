"""The first rows as the guess reads them: what a user checks before a whole file is read that way."""

from collections.abc import Sequence
from typing import Any

from foresail.pipeline.look.guess import ColumnGuess, Guess
from foresail.pipeline.look.speeds import Fix
from foresail.pipeline.look.tables import Table
from foresail.pipeline.look.values import PLACEHOLDERS, number_of
from foresail.pipeline.sources.fields import UNIT_FACTORS
from foresail.pipeline.sources.mapped import ANGLES, FILE

SHOWN_ROWS = 10
WHOLE = ("mmsi", "nav_status", "ship_type", "satellites")
TEXTS = ("track", "name", "vessel_type")


def parsed_rows(guess: Guess, table: Table, file: str, most: int = SHOWN_ROWS) -> list[dict[str, Any]]:
    """The first rows with the canonical columns of `guess`; None where a cell has no value."""
    places = {name: place for place, name in reversed(list(enumerate(table.names)))}

    def cells(row: Sequence[str | None], names: Sequence[str]) -> list[str | None]:
        return [file if name == FILE else row[places[name]] for name in names]

    return [
        {column.role: _value(column, cells(row, column.columns)) for column in guess.columns}
        for row in table.rows[:most]
    ]


def fixes_of(guess: Guess, table: Table, role: str) -> list[Fix]:
    """Positions with the speed as the file has it, for the judge of units."""
    fixes = []
    for row in parsed_rows(guess, table, "", len(table.rows)):
        track, time, lon, lat = (row.get(name) for name in ("track", "time", "lon", "lat"))
        speed = row.get(role)
        if time is not None and None not in (lon, lat, speed):
            fixes.append(Fix(str(track or row.get("mmsi")), time, lon, lat, speed))  # type: ignore[arg-type]
    return fixes


def _value(column: ColumnGuess, cells: Sequence[str | None]) -> Any:
    known = [cell for cell in cells if cell is not None and cell.lower() not in PLACEHOLDERS]
    if len(known) < len(cells):
        return None
    text = " ".join(known)
    if column.time:
        return column.time.parse(text)
    if column.codes:
        return column.codes.get(text.lower())
    if column.role in TEXTS:
        return text
    value = number_of(text, column.decimal)
    if value is None or value in column.missing:
        return None
    return _converted(column, value)


def _converted(column: ColumnGuess, value: float) -> float | int:
    value *= column.scale or 1.0
    if column.role in WHOLE:
        return int(value)
    factors = UNIT_FACTORS.get("angle" if column.role in ANGLES else column.role, {})
    value *= factors.get(column.unit or "", 1.0)
    return value + 360 if column.role in ANGLES and -360 <= value < 0 else value
