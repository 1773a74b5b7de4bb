"""`foresail catalog`: what there is to look for, whether it is written rightly, and what it looks like."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from foresail.pipeline.cli.groups import Commands
from foresail.pipeline.errors import InputError, OptionError, OutputError

if TYPE_CHECKING:
    from foresail.patterns.catalog.entry import PatternEntry
    from foresail.patterns.catalog.languages import LanguageEntry
    from foresail.patterns.catalog.loader import Catalog

_PATTERNS = click.option(
    "--patterns",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Catalog files or folders to look in, instead of the built-in catalog; repeatable.",
)
_SET = click.option(
    "--set", "sets", multiple=True, metavar="PATTERN.PARAMETER=VALUE", help="Use this value of a parameter; repeatable."
)
ANY = "any"
"""The domain of a pattern that names none."""
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group(cls=Commands)
def command() -> None:
    """The catalog of patterns: list, show, check, draw, import."""


@command.command("list")
@_PATTERNS
@click.option("--domain", type=click.Choice(["maritime", "fleet"]), help="Only the patterns of this domain.")
@_JSON
def list_patterns(paths: tuple[Path, ...], domain: str | None, as_json: bool) -> None:
    """The patterns and what each finds."""
    catalog = _catalog(paths)
    entries = [e for e in catalog.every if domain is None or e.domain in (None, domain)]
    if as_json:
        rows = [{"name": e.name, "version": e.version, "domain": e.domain, "says": e.says} for e in entries]
        click.echo(json.dumps({"patterns": rows}))
        return
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        click.echo(f"{entry.name:{width}}  {entry.domain or ANY:8}  {entry.says}")


@command.command()
@click.argument("name")
@_PATTERNS
@_SET
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the catalog file of the pattern, to write one's own from.")
@_JSON
def show(name: str, paths: tuple[Path, ...], sets: tuple[str, ...], as_yaml: bool, as_json: bool) -> None:
    """Everything about the pattern NAME: parameters, conditions, rules, automaton and symbols."""
    from foresail.patterns.catalog.entry import PatternEntry
    from foresail.patterns.catalog.pages import rules_of, symbols_of
    from foresail.patterns.catalog.writer import write_entry
    from foresail.patterns.compiler import compile_pattern

    catalog = _catalog(paths, sets)
    other = catalog.other(name)
    entry = other or catalog[name]
    if as_yaml:
        click.echo(write_entry(entry), nl=False)
        return
    if not isinstance(entry, PatternEntry):
        _show_other(entry, as_json)
        return
    compiled = compile_pattern(entry.spec())
    if as_json:
        held = entry.model_dump(mode="json", by_alias=True)
        click.echo(json.dumps({**held, "states": compiled.states, "symbols": symbols_of(compiled)}))
        return
    _print_entry(entry, rules_of(entry))
    click.echo(f"\nAutomaton\n  {compiled.states} states, {len(compiled.alphabet)} symbols")


@command.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@_SET
@_JSON
def check(paths: tuple[Path, ...], sets: tuple[str, ...], as_json: bool) -> None:
    """Read and compile the catalog files or folders PATHS; every fault is told with its place."""
    names, faults, notes = _checked(paths, sets)
    for note in notes:
        click.echo(f"foresail: {note}", err=True)
    for fault in faults:
        click.echo(f"foresail: {fault}", err=True)
    if as_json:
        click.echo(json.dumps({"patterns": names, "faults": faults}))
    elif not faults:
        click.echo(f"{len(names)} pattern{'s' * (len(names) != 1)}, no fault.")
    if faults:
        raise SystemExit(1)


@command.command()
@click.argument("name")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The file to write, .svg or .dot; NAME.svg when not given."
)
@_PATTERNS
@_SET
def draw(name: str, out: Path | None, paths: tuple[Path, ...], sets: tuple[str, ...]) -> None:
    """Draw the automaton of the pattern NAME, as a picture (.svg) or for graph tools (.dot)."""
    from foresail.patterns.compiler import compile_pattern
    from foresail.patterns.drawing import diagram_of, draw_dot, draw_svg

    out = out or Path(f"{name}.svg")
    drawings = {".svg": draw_svg, ".dot": draw_dot}
    if out.suffix not in drawings:
        msg = f"{out}: cannot draw as '{out.suffix or out.name}'. Name a file that ends in .svg or .dot."
        raise OptionError(msg)
    catalog = _catalog(paths, sets)
    other = catalog.other(name)
    if other is not None:
        _write(out, other.drawn(out.suffix.removeprefix(".")))
        click.echo(f"{out}: {other.language}")
        return
    diagram = diagram_of(compile_pattern(catalog[name].spec()))
    _write(out, drawings[out.suffix](diagram))
    click.echo(f"{out}: {diagram.states} states, {len(diagram.edges)} arrows")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The folder to write into; standard output when not given."
)
@click.option(
    "--declarations",
    type=click.Path(path_type=Path),
    help="The file of features +( ) and exclusives ~( ) that goes with it.",
)
@click.option("--domain", type=click.Choice(["maritime", "fleet"]), default="maritime", show_default=True)
@click.option(
    "--time-unit", type=click.Choice(["s", "ms"]), default="s", show_default=True, help="What a time window counts."
)
def import_file(
    file: Path,
    out: Path | None,
    declarations: Path | None,
    domain: Literal["maritime", "fleet"],
    time_unit: Literal["s", "ms"],
) -> None:
    """Read the patterns of FILE, in the prefix notation of .sre files, and write them as catalog entries."""
    import re

    from foresail.patterns.catalog.writer import write_entries, write_entry
    from foresail.patterns.notations.sre import Importing, import_sre

    name = re.sub(r"\W+", "_", file.stem).strip("_").lower()
    importing = Importing(name if re.match("[a-z_]", name) else f"pattern_{name}", domain, time_unit)
    declared = (_read(declarations), str(declarations)) if declarations else None
    entries = import_sre(_read(file), str(file), importing, declared)
    for entry in entries:
        if entry.notes:
            click.echo(f"foresail: {entry.name}: {entry.notes}", err=True)
        if out is not None:
            _write(out / f"{entry.name}.yaml", write_entry(entry))
            click.echo(str(out / f"{entry.name}.yaml"))
    if out is None:
        click.echo(write_entries(entries), nl=False)


@command.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("docs/catalog"), show_default=True)
def docs(out: Path) -> None:
    """Write a page for each built-in pattern, with its automaton drawn, and an index, into the folder --out."""
    from foresail.patterns.catalog.pages import catalog_pages
    from foresail.pipeline.reports.page import count_of

    pages = catalog_pages(_catalog(()))
    for name, text in pages.items():
        _write(out / name, text)
    click.echo(f"{out}: {count_of(len(pages), 'file')}")


@command.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write; standard output when not given.")
def schema(out: Path | None) -> None:
    """The JSON Schema of catalog files, with which editors complete and check them."""
    from foresail.patterns.catalog.writer import catalog_schema

    text = json.dumps(catalog_schema(), indent=2) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(out, text)
        click.echo(str(out))


def _checked(paths: Sequence[Path], sets: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The names of the entries that are right, all faults (of single files first, then between them), and notes."""
    from foresail.patterns.catalog.loader import Catalog, catalog_files, read_catalog
    from foresail.patterns.compiler import compile_pattern
    from foresail.patterns.errors import PatternError

    faults: list[str] = []
    readable = []
    for file in catalog_files(paths):
        try:
            read_catalog([file])
            readable.append(file)
        except PatternError as error:
            faults.append(str(error))
    try:
        catalog = _catalog(readable, sets) if readable else Catalog(())
    except PatternError as error:
        return [], [*faults, str(error)], []
    names: list[str] = []
    notes: list[str] = []
    for other in catalog.others:
        try:
            notes += other.check()
            names.append(other.name)
        except PatternError as error:
            faults.append(str(error))
    for entry in catalog:
        try:
            notes += compile_pattern(entry.spec()).warnings
            names.append(entry.name)
        except PatternError as error:
            faults.append(str(error))
    return names, faults, notes


def _catalog(paths: Sequence[Path], sets: Sequence[str] = ()) -> "Catalog":
    from foresail.patterns.catalog.loader import built_in_catalog, read_catalog
    from foresail.pipeline.cli.options import overrides_of

    overrides = overrides_of(tuple(sets))
    return read_catalog(paths, overrides) if paths else built_in_catalog(overrides=overrides)


def _show_other(entry: "LanguageEntry", as_json: bool) -> None:
    """What there is to know of an entry in another language."""
    sections = [(title, list(rows)) for title, rows in entry.sections()]
    if as_json:
        held = entry.model_dump(mode="json", by_alias=True)
        click.echo(json.dumps({**held, **{title.lower(): dict(rows) for title, rows in sections}}))
        return
    click.echo(f"{entry.name} (version {entry.version}, {entry.domain or ANY}, {entry.language})\n\n{entry.says}")
    for text in (entry.notes, entry.source and f"Source: {entry.source}"):
        if text:
            click.echo(f"\n{text}")
    for title, rows in sections:
        _block(title, rows)


def _print_entry(entry: "PatternEntry", rules: Mapping[str, str]) -> None:
    click.echo(f"{entry.name} (version {entry.version}, {entry.domain or ANY})\n\n{entry.says}")
    if entry.notes:
        click.echo(f"\n{entry.notes}")
    if entry.source:
        click.echo(f"\nSource: {entry.source}")
    _block("Parameters", entry.parameters.items())
    _block("Conditions", ((n, " ".join(text.split())) for n, text in entry.where.items()))
    click.echo(f"\nPattern\n  {' '.join(entry.pattern.split())}")
    _block("Rules", rules.items())
    _block("Features", ((n, " ".join(text.split())) for n, text in entry.named_features.items()))


def _block(title: str, rows: Iterable[tuple[str, object]]) -> None:
    held = list(rows)
    if held:
        width = max(len(name) for name, _ in held)
        click.echo(f"\n{title}")
        for name, value in held:
            click.echo(f"  {name:{width}}  {value}")


def _read(path: Path) -> str:
    from foresail.bounded_yaml import bounded_text

    try:
        return bounded_text(path, str(path))
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror}). Name a text file."
        raise InputError(msg) from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror}). Choose another place."
        raise OutputError(msg) from None
