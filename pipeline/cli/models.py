"""`foresail models`: what the store holds, which model serves, and how that changes."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from foresail.pipeline.cli.groups import Commands
from foresail.pipeline.cli.model_rounds import FINE, evaluate, explain_command, learn, live, merge, store_at

if TYPE_CHECKING:
    from rich.table import Table

    from foresail.models.store import ModelStore

_MODELS = click.option("--models", "place", required=True, metavar="DIR", help="The model store: a folder or a URI.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_COMPARED = (
    "order",
    "symbols",
    "contexts",
    "chain_states",
    "threshold",
    "within",
    "events",
    "matches",
    "trained until",
)


@click.group(cls=Commands)
def command() -> None:
    """The model store: what it holds, which model serves, and the rounds of scheduled training."""


@command.command("list")
@click.argument("patterns", nargs=-1)
@_MODELS
@_JSON
def list_models(patterns: tuple[str, ...], place: str, as_json: bool) -> None:
    """Every model of PATTERNS (all when none is named), and which one serves."""
    store = store_at(place)
    rows = [row for pattern in patterns or store.patterns() for row in _rows(store, pattern)]
    if as_json:
        click.echo(json.dumps({"models": rows}))
        return
    if not rows:
        click.echo(f"{place}: no models yet. Train one with `foresail train`.")
        return
    from rich.box import SIMPLE

    from foresail.pipeline.cli.tables import print_table, result_console

    shown = ("version", "alias", "order", "matches", "trained until")
    cells = [(*(_text(row[name]) for name in shown), _scores(row["scores"])) for row in rows]
    print_table(
        result_console(), ("model", *shown[1:], "scores"), cells, ("order", "matches", "trained until"), box=SIMPLE
    )


@command.command()
@click.argument("pattern")
@click.argument("version", default="champion")
@_MODELS
@_JSON
def show(pattern: str, version: str, place: str, as_json: bool) -> None:
    """All about one model of PATTERN: VERSION, champion (the default), challenger, earlier-1, ..."""
    from dataclasses import asdict

    from foresail.models.files import header_as_json

    store = store_at(place)
    model, record = store.load(pattern, version), store.record(pattern)
    header = header_as_json(model.header)
    decisions = [asdict(decision) for decision in record.decisions if decision.version == model.version]
    search = store.search(pattern, model.version)
    if as_json:
        groups = store.load_groups(pattern, version)
        held = {"model_version": model.version, "header": header, "search": search, "decisions": decisions}
        if groups:
            held |= {"per": groups.per, "groups": {name: g.version for name, g in groups.models.items()}}
        click.echo(json.dumps(held))
        return
    table = _table("", model.version)
    for name, value in _facts(store, pattern, model.version).items():
        table.add_row(name, _scores(value, tuple(value)) if name == "scores" else _text(value))
    table.add_row("pattern", model.header.spec.pattern.text)
    features = (f"{name}: {text}" for name, text in model.header.identity.features)
    table.add_row("features", "\n".join(features) or "none")
    groups = store.load_groups(pattern, version)
    if groups:
        own = (f"{name}: {g.header.training.matches:,.0f} matches, {g.version}" for name, g in groups.models.items())
        table.add_row(f"models per {groups.per}", "\n".join(own) or "none: no group has enough matches")
    table.add_row("learned with", ", ".join(f"{key} {value}" for key, value in header["settings"]["learn"].items()))
    for note in model.header.notes:
        table.add_row("note", note)
    if search:
        table.add_row("search", f"{len(search['trials'])} settings tried, seed {search['seed']}")
    for decision in decisions:
        table.add_row(decision["what"], f"{decision['at']}: {decision['why']}")
    _print(table)


@command.command()
@click.argument("pattern")
@click.argument("one", default="champion")
@click.argument("other", default="challenger")
@_MODELS
@_JSON
def compare(pattern: str, one: str, other: str, place: str, as_json: bool) -> None:
    """Two models of PATTERN side by side: champion and challenger when none is named."""
    store = store_at(place)
    versions = [store.resolve(pattern, name) for name in (one, other)]
    facts = [_facts(store, pattern, version) for version in versions]
    if as_json:
        click.echo(json.dumps({"models": [{"version": v, **f} for v, f in zip(versions, facts, strict=True)]}))
        return
    table = _table("", *(f"{version} ({name})" for version, name in zip(versions, (one, other), strict=True)))
    for name in _COMPARED:
        table.add_row(name, *(_text(held[name]) for held in facts))
    for name in sorted(set(facts[0]["scores"]) | set(facts[1]["scores"])):
        table.add_row(name, *(_text(held["scores"].get(name)) for held in facts))
    _print(table)


@command.command()
@click.argument("pattern")
@click.argument("version", default="challenger")
@_MODELS
@click.option("--if-better", "margin", type=float, metavar="MARGIN", help="Only if its score is better by so much.")
@click.option("--metric", default="mcc", show_default=True, help="The score that --if-better compares.")
@click.option("--why", default="asked for", help="What the manifest says of it.")
@click.option("--exit-code", is_flag=True, help=f"End with code {FINE} when the champion stays.")
@_JSON
def promote(
    pattern: str,
    version: str,
    place: str,
    margin: float | None,
    metric: str,
    why: str,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Let VERSION of PATTERN (the challenger when none is named) serve."""
    store = store_at(place)
    better, shown = True, why
    if margin is None:
        store.promote(pattern, version, why)
    else:
        judgement = store.promote_if_better(pattern, margin, version, metric)
        better, shown = judgement.better, judgement.why
    promoted = store.resolve(pattern, "champion") if better else None
    if as_json:
        click.echo(json.dumps({"pattern": pattern, "promoted": promoted, "why": shown, **_serving(store, pattern)}))
    else:
        click.echo(f"{pattern}: {promoted} serves: {shown}." if better else f"{pattern}: the champion stays: {shown}.")
    if exit_code and not better:
        raise SystemExit(FINE)


@command.command()
@click.argument("pattern")
@_MODELS
@click.option("--why", default="asked for", help="What the manifest says of it.")
@_JSON
def rollback(pattern: str, place: str, why: str, as_json: bool) -> None:
    """Let the champion of PATTERN before this one serve again."""
    store = store_at(place)
    left = store.record(pattern).champion
    back = store.rollback(pattern, why)
    if as_json:
        click.echo(json.dumps({"pattern": pattern, "champion": back, "left": left}))
        return
    click.echo(f"{pattern}: {back} serves again, in place of {left}.")


@command.command()
@click.argument("patterns", nargs=-1)
@_MODELS
@click.option("--keep", default=5, show_default=True, type=click.IntRange(min=0), help="Models to spare of each.")
@_JSON
def prune(patterns: tuple[str, ...], place: str, keep: int, as_json: bool) -> None:
    """Remove old models of PATTERNS (all when none is named); champion and challenger stay."""
    store = store_at(place)
    gone = {pattern: store.prune(pattern, keep) for pattern in patterns or store.patterns()}
    if as_json:
        click.echo(json.dumps({"removed": gone}))
        return
    number = sum(len(versions) for versions in gone.values())
    click.echo(f"{place}: {number} model{'s' * (number != 1)} removed.")


@command.command()
@_MODELS
def repair(place: str) -> None:
    """Make the manifest anew when it cannot be read; the broken one is kept beside it."""
    click.echo(f"{place}: the manifest is made anew from {store_at(place).repair()}.")


command.add_command(explain_command)
command.add_command(merge)
command.add_command(learn)
command.add_command(evaluate)
command.add_command(live)


def _rows(store: "ModelStore", pattern: str) -> list[dict[str, Any]]:
    record = store.record(pattern)
    aliases = {record.challenger: "challenger", record.champion: "champion"}
    aliases |= {version: f"earlier-{number}" for number, version in enumerate(record.earlier, start=1)}
    return [
        {"pattern": pattern, "version": version, "alias": aliases.get(version), **_facts(store, pattern, version)}
        for version in store.versions(pattern)
    ]


def _facts(store: "ModelStore", pattern: str, version: str) -> dict[str, Any]:
    record = store.record(pattern)
    held = dict.fromkeys(_COMPARED) | dict(record.models.get(version, {}))
    scored = record.scored(version)
    last_us = held.pop("last_us", None)
    held.pop("first_us", None)
    until = None if last_us is None else datetime.fromtimestamp(last_us / 1e6, tz=UTC).strftime("%Y-%m-%d %H:%M")
    return held | {"trained until": until, "scores": dict(scored.values) if scored else held.get("scores") or {}}


def _serving(store: "ModelStore", pattern: str) -> dict[str, Any]:
    record = store.record(pattern)
    return {"champion": record.champion, "challenger": record.challenger}


def _table(*columns: str) -> "Table":
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _print(table: "Table") -> None:
    from rich.console import Console

    Console().print(table)


def _scores(scores: dict[str, float], names: tuple[str, ...] = ("mcc", "f1")) -> str:
    return ", ".join(f"{name} {scores[name]:.3f}" for name in names if name in scores)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,.10g}" if isinstance(value, float) else str(value)
