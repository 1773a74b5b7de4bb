"""One column of the head, measured: its numbers, its decimal sign, its times, and how much of it is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from foresail.pipeline.look.roles import Named, is_label, roles_of
from foresail.pipeline.look.times import (
    Column,
    Decimal,
    TimeForm,
    decimal_of,
    is_clock_column,
    is_date_column,
    is_grouped,
    kind_of,
    numbers_of,
    sentinels_of,
    time_form,
)

EXAMPLES = 3


@dataclass(frozen=True)
class Profile:
    """What can be said of a column without knowing the others."""

    column: Column
    now: datetime
    month_first: bool = False
    """Which order of an undecided date to take; the doubt is told either way."""

    @property
    def name(self) -> str:
        """The column's name in the file."""
        return self.column.name

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """The cells that say something."""
        return self.column.filled

    @cached_property
    def roles(self) -> list[Named]:
        """What its name says it is."""
        return roles_of(self.name)

    @cached_property
    def decimal(self) -> Decimal:
        """The decimal sign; a point where the column has no numbers."""
        return decimal_of(self.filled) or "."

    @cached_property
    def is_number(self) -> bool:
        """Whether nearly every cell is a number."""
        return decimal_of(self.filled) is not None

    @cached_property
    def is_grouped(self) -> bool:
        """Whether there are signs between the thousands."""
        return is_grouped(self.filled)

    @cached_property
    def missing(self) -> tuple[float, ...]:
        """The numbers that stand for no value."""
        return sentinels_of(numbers_of(self.filled, self.decimal)) if self.is_number else ()

    @cached_property
    def numbers(self) -> Sequence[float]:
        """The numbers that are values."""
        return [value for value in numbers_of(self.filled, self.decimal) if value not in self.missing]

    @cached_property
    def time(self) -> TimeForm | None:
        """The form of its times, if it has any."""
        return time_form(self.filled, self.now, self.month_first)

    @cached_property
    def is_date(self) -> bool:
        """Whether it holds dates without a time of day."""
        return is_date_column(self.filled)

    @cached_property
    def is_clock(self) -> bool:
        """Whether it holds times of day without a date."""
        return is_clock_column(self.filled)

    @cached_property
    def kind(self) -> str:
        """The type in which it passes through; names stay text, as a later row may have letters."""
        return "string" if is_label(self.name) and self.is_number else kind_of(self.filled, self.decimal)

    @property
    def share(self) -> float:
        """The share of cells that say something."""
        return len(self.filled) / len(self.column.cells) if self.column.cells else 0.0

    @property
    def examples(self) -> tuple[str, ...]:
        """A few different cells."""
        return tuple(dict.fromkeys(self.filled))[:EXAMPLES]

    def rank(self, role: str) -> int | None:
        """How surely the name says `role`; 0 is surest."""
        return next((named.rank for named in self.roles if named.role == role), None)
