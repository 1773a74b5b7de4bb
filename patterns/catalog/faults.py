"""What pydantic found wrong with an entry, said to the analyst who wrote it: the place, the fault, the way out."""

from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from foresail.patterns.catalog.entry import PARTS, PatternEntry, did_you_mean
from foresail.patterns.catalog.nodes import Document, Path

_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "names and values, one a line",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "names and values, one a line",
    "model_attributes_type": "names and values, one a line",
}


def say_fault(error: ValidationError, document: Document, path: Path, entry: type[BaseModel] = PatternEntry) -> str:
    """The first fault of the entry at `path` as one line that begins with file, line and column."""
    fault = min(error.errors(include_url=False), key=lambda found: _order(found, document, path))
    return _say(fault, document, path, entry)


def _order(fault: ErrorDetails, document: Document, path: Path) -> tuple[bool, int, int]:
    place = document.key_place(_at(fault, document, path))
    return fault["type"] == "missing", place.line, place.column


def _at(fault: ErrorDetails, document: Document, path: Path) -> Path:
    """The way to the value at fault; pydantic adds steps of its own for unions, which the file does not have."""
    at: Path = (*path, *fault["loc"], *(fault.get("ctx") or {}).get("path", ()))
    while at not in document.values and len(at) > len(path):
        at = at[:-1]
    return at


def _say(fault: ErrorDetails, document: Document, path: Path, entry: type[BaseModel]) -> str:
    at = _at(fault, document, path)
    kind = fault["type"]
    key = str(fault["loc"][-1]) if fault["loc"] else ""
    model = next((PARTS[str(step)] for step in fault["loc"][:-1] if step in PARTS), entry)
    if kind == "extra_forbidden":
        return f"{document.key_place(at)}: unknown key '{key}'. {did_you_mean(key, _keys(model))}"
    if kind == "missing":
        about = next(f.description for name, f in model.model_fields.items() if (f.alias or name) == key)
        return f"{document.place(at)}: the key '{key}' is missing. {about} Add it."
    place = document.place(at)
    name = ".".join(map(str, at[len(path) :]))
    if kind == "bad_name":
        return f"{document.key_place(at)}: {fault['msg']}"
    return f"{place}: {name}{_say_value(fault)}"


def _say_value(fault: ErrorDetails) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "literal_error":
        return f" cannot be {_shown(value)}. {did_you_mean(str(value), _choices(fault))}"
    if fault["loc"][:1] == ("parameters",) and len(fault["loc"]) > 1:
        return f" must be a number, a text, true or false, not {_shown(value)}."
    if kind in ("value_error", "fault_at"):
        return f": {fault['msg'].removeprefix('Value error, ')}"
    if kind in _WANTED:
        return f" must be {_WANTED[kind]}, not {_shown(value)}."
    return f": {fault['msg'].lower()}, not {_shown(value)}."


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _choices(fault: ErrorDetails) -> list[str]:
    expected = str((fault.get("ctx") or {}).get("expected", ""))
    return [word.strip().strip("'") for word in expected.replace(" or ", ", ").split(",")]


def _shown(value: Any) -> str:
    match value:
        case None:
            return "empty"
        case dict():
            return "names and values"
        case list():
            return "a list"
        case bool():
            return str(value).lower()
        case _:
            return f"'{value}'"
