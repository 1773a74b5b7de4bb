"""The catalog as pages to read: one per pattern with its automaton drawn beside it, and an index."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import dedent
from typing import Any

from pydantic import BaseModel

from foresail.patterns.catalog.entry import PARTS, Forecast, PatternEntry
from foresail.patterns.catalog.loader import DOMAINS, Catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.drawing import diagram_of, draw_svg

_FOOT = "Generated from the catalog by `foresail catalog docs`; edit the catalog, not this page.\n"


def catalog_pages(catalog: Catalog) -> dict[str, str]:
    """The text of every file of the folder of pages, by its name."""
    pages = {"README.md": _index(catalog)}
    for entry in catalog:
        compiled = compile_pattern(entry.spec())
        pages[f"{entry.name}.md"] = pattern_page(entry, compiled)
        pages[f"{entry.name}.svg"] = draw_svg(diagram_of(compiled))
    return pages


def pattern_page(entry: PatternEntry, compiled: CompiledPattern) -> str:
    """The page of one pattern."""
    sections = [
        f"# {entry.name}\n\n{entry.says}",
        entry.notes,
        _facts(entry),
        _table("Parameters", ("name", "default"), ((f"`{n}`", f"`{_value(v)}`") for n, v in entry.parameters.items())),
        _table("Conditions", ("name", "holds when"), _conditions(entry.where)),
        f"## Pattern\n\n```\n{dedent(entry.pattern).strip()}\n```",
        _automaton(entry, compiled),
        _table("Features", ("name", "holds when"), _conditions(entry.named_features), _FEATURES),
        _learned(entry),
        _symbols(compiled),
        _FOOT,
    ]
    return "\n\n".join(section for section in sections if section)


_OWN = """\
## Patterns of your own

Write them as YAML, one pattern a file or several under `patterns:`, and give the files with `--patterns`.
`foresail catalog show NAME --yaml` prints a built-in one to begin with, `foresail catalog check PATH` tells every fault
with its line, and an editor that knows [the schema](../catalog.schema.json) completes the keys as you type.
Thresholds under `parameters:` are used by name in the conditions; `--set pattern.parameter=value` changes one for a
run. A condition may also name the conditions above it."""
_FEATURES = "Read by forecasts only; they do not change what is recognised."


def rules_of(entry: PatternEntry) -> dict[str, str]:
    """How matches are bounded, reported and forecast, in words."""
    rules = {
        "one instance for each": f"feature of the layer `{entry.for_each.layer}`" if entry.for_each else None,
        "window": entry.window,
        "a silence ends a match after": entry.max_gap or "no time: never",
        "after a match": entry.after_match,
        "output": entry.output,
        "report": entry.report,
        "least length of an episode": entry.min_dwell,
        "forecast": _pairs(_forecast(entry.forecast)) if entry.forecast else None,
        "alert": _pairs(entry.alert.model_dump(exclude_none=True)) if entry.alert else None,
    }
    return {rule: value for rule, value in rules.items() if value}


def symbols_of(compiled: CompiledPattern) -> list[tuple[str, ...]]:
    """For each symbol of the pattern's alphabet the conditions that hold on its events."""
    names = compiled.symbol_names
    return [tuple(name for bit, name in enumerate(names) if int(code) >> bit & 1) for code in compiled.alphabet.codes]


def _facts(entry: PatternEntry) -> str:
    facts = {
        "domain": entry.domain or "any",
        "version": str(entry.version),
        "source": entry.source or "",
        **rules_of(entry),
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _automaton(entry: PatternEntry, compiled: CompiledPattern) -> str:
    states, symbols = compiled.states, len(compiled.alphabet)
    return (
        f"## Automaton\n\n![The automaton of {entry.name}]({entry.name}.svg)\n\n"
        f"{states} states, {symbols} symbols. State 0 is the start; a double circle means that the pattern is detected."
    )


def _learned(entry: PatternEntry) -> str:
    if entry.learn is None:
        return ""
    read = ", ".join(f"`{name}`" for name in entry.learn.attributes) or "what the conditions and features read"
    return (
        f"## Learned features\n\n`foresail train` learns at most {entry.learn.leaves} conditions from the events, "
        f"which take the place of the features above. Attributes that they may read: {read}.\n`foresail models show "
        f"{entry.name}` lists the conditions that a model has learned."
    )


def _symbols(compiled: CompiledPattern) -> str:
    rows = ((str(n), ", ".join(f"`{h}`" for h in holds) or "none") for n, holds in enumerate(symbols_of(compiled)))
    return _table("Symbols", ("symbol", "conditions that hold"), rows, "Every event is exactly one of these.")


def _conditions(conditions: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((f"`{name}`", f"`{' '.join(text.split())}`") for name, text in conditions.items())


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], says: str = "") -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    top = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return f"## {title}\n\n" + (f"{says}\n\n" if says else "") + "\n".join([*top, *lines])


def _forecast(forecast: Forecast) -> dict[str, Any]:
    """What is forecast and how, without what is seldom asked for and was not."""
    forecast_fields = forecast.model_dump(exclude_none=True)
    seldom = Forecast().model_dump(include={"model", "contexts", "forecast_in_accepting"})
    return {name: value for name, value in forecast_fields.items() if seldom.get(name, ...) != value}


def _pairs(held: Mapping[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in held.items())


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _index(catalog: Catalog) -> str:
    parts = ["# The catalog", "The patterns that come with the software, by domain."]
    for domain in DOMAINS:
        rows = [(f"[{entry.name}]({entry.name}.md)", entry.says) for entry in catalog if entry.domain == domain]
        parts.append(_table(domain.capitalize(), ("pattern", "what it finds"), rows))
    parts += [_OWN, _keys("Keys of an entry", PatternEntry)]
    parts += [_keys(f"Keys of `{name}`", model) for name, model in PARTS.items()]
    return "\n\n".join([*(part for part in parts if part), _FOOT])


def _keys(title: str, model: type[BaseModel]) -> str:
    fields = ((f"`{field.alias or name}`", field.description or "") for name, field in model.model_fields.items())
    return _table(title, ("key", "meaning"), fields)
