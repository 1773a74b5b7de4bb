"""The guess as a mapping file: what `foresail ingest --from FILE` reads, with the doubts as remarks to be settled."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from foresail.pipeline.look.guess import ColumnGuess, Guess
from foresail.pipeline.look.profile import Profile
from foresail.pipeline.look.tables import Table
from foresail.pipeline.look.times import DAY_S, SERIAL_EPOCH_DAYS, Decimal
from foresail.pipeline.schemas import DERIVED_COLUMNS, POSITION_COLUMNS

TAKEN_COLUMNS = frozenset(
    (*POSITION_COLUMNS, *DERIVED_COLUMNS, "line", "raw", "fault", "station", "repairs", "reason", "age")
)


def mapping_of(guess: Guess, profiles: Sequence[Profile], table: Table, form: str, name: str) -> dict[str, Any]:
    """The values of the mapping file, ready to be checked and written."""
    decimal = common_decimal(profiles)
    mapping: dict[str, Any] = {"name": name, "domain": guess.domain, "format": form}
    if table.delimiter and table.delimiter != ",":
        mapping["delimiter"] = table.delimiter
    if decimal == ",":
        mapping["decimal"] = decimal
    if not table.header and table.delimiter:
        mapping["header"] = table.delimiter.join(table.names)
    if table.trailing_delimiter:
        mapping["trailing_delimiter"] = True
    words = list(dict.fromkeys(word for profile in profiles for word in profile.column.placeholders))
    if words:
        mapping["missing"] = words
    mapping["columns"] = {column.role: _entry(column, decimal) for column in guess.columns}
    kept = _kept(guess, profiles, decimal)
    if kept:
        mapping["keep"] = kept
    return mapping


def common_decimal(profiles: Sequence[Profile]) -> Decimal:
    """The decimal sign of the file: a comma where numbers have commas and none has a point."""
    fractions = [text for profile in profiles if profile.is_number for text in profile.filled[:200]]
    commas = any("," in text for text in fractions)
    return "," if commas and not any("." in text for text in fractions) else "."


def mapping_text(mapping: Mapping[str, Any], doubts: Sequence[str], file: str) -> str:
    """`mapping` as YAML, each entry on a line, with the doubts above."""
    lines = [
        f"# How the columns of {file} are read, as `foresail look` guessed it; docs/feeds.md says what can be set."
    ]
    if doubts:
        lines.append("# Check these:")
        lines += [f"# - {_plain(doubt)}" for doubt in doubts]
    for key, value in mapping.items():
        if isinstance(value, dict):
            lines.append(f"{key}:")
            lines += [f"  {_inline(inner)}: {_inline(entry)}" for inner, entry in value.items()]
        else:
            lines.append(f"{key}: {_inline(value)}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]+", " ", text)


def _inline(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=100_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("...").strip()


def _entry(column: ColumnGuess, decimal: Decimal) -> str | dict[str, Any]:
    entry: dict[str, Any] = {"column": list(column.columns) if len(column.columns) > 1 else column.columns[0]}
    form = column.time
    if form and form.kind == "pattern":
        entry["format"] = form.pattern
    if form and form.kind == "serial":
        entry |= {"unit": "s", "scale": DAY_S, "offset": -SERIAL_EPOCH_DAYS * DAY_S}
    elif column.unit:
        entry["unit"] = column.unit
    if form and form.kind in ("iso", "pattern") and not form.zoned:
        entry["zone"] = "UTC"
    if column.scale:
        entry["scale"] = column.scale
    if column.missing:
        entry["missing"] = [_number(value) for value in column.missing]
    if column.codes:
        entry["codes"] = column.codes
    if form is None and column.decimal == "," != decimal:
        entry["decimal"] = column.decimal
    return entry["column"] if list(entry) == ["column"] and isinstance(entry["column"], str) else entry


def _kept(guess: Guess, profiles: Sequence[Profile], decimal: Decimal) -> dict[str, Any]:
    """Every other column that holds something, under a name that conditions can use, with its type."""
    kept: dict[str, Any] = {}
    for profile in profiles:
        if not profile.filled or profile.name in guess.used:
            continue
        name = attribute_name(profile.name)
        while name in TAKEN_COLUMNS or name in kept:
            name = f"{name}_2" if name in kept else f"feed_{name}"
        entry: dict[str, Any] = {"column": profile.name, "type": profile.kind}
        if profile.missing:
            entry["missing"] = [_number(value) for value in profile.missing]
        if profile.kind == "double" and profile.decimal == "," != decimal:
            entry["decimal"] = ","
        plain = len(entry) == 2 and name == profile.name
        kept[name] = profile.kind if plain else entry
    return kept


def attribute_name(name: str) -> str:
    """`name` as conditions can write it: small letters, digits and underscores."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    plain = re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")
    return plain if plain and plain[0].isalpha() else f"c_{plain or 'unnamed'}"


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() else value
