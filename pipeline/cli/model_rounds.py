"""The rounds of scheduled training as commands of `foresail models`: merge, learn, evaluate, live; without Spark.

`foresail models explain`: why a forecast said what it said.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from foresail.models.explain import Explanation
    from foresail.models.model import Model
    from foresail.models.store import ModelStore
    from foresail.pipeline.jobs.learn_counted import Round


Function = TypeVar("Function", bound=Callable[..., Any])
FINE = 99
"""The exit code of `live --exit-code` when no model has degraded: Airflow takes it as "skip what follows"."""


def round_options(function: Function) -> Function:
    """--models, --to, --settings, --json."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="End standard output with one line of JSON."),
        click.option("--settings", "settings_file", type=click.Path(path_type=Path), help="A YAML file of settings."),
        click.option("--to", "until", type=click.DateTime(), help="As of this time (UTC): nothing later is read."),
        click.option("--models", "place", required=True, metavar="DIR", help="The model store: a folder or a URI."),
    ):
        function = option(function)
    return function


_PATTERNS = click.option("--patterns", multiple=True, help="Catalog files or folders the pattern is in; repeatable.")


@click.command()
@click.argument("names", nargs=-1)
@_PATTERNS
@round_options
@click.option("--from", "since", type=click.DateTime(), help="Leave out patterns of which nothing was counted since.")
@click.option("--half-life-days", type=float, help="Older counts fade: half after so many days.")
def merge(
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    place: str,
    until: datetime | None,
    settings_file: Path | None,
    as_json: bool,
    since: datetime | None,
    half_life_days: float | None,
) -> None:
    """Add up the counts of all intervals of NAMES (all of --patterns when none is named)."""
    from foresail.pipeline.jobs.learn_counted import merge_counted
    from foresail.pipeline.settings import read_settings

    store = store_at(place)
    fading = half_life_days or read_settings(settings_file).training.half_life_days
    found = [merge_counted(store, name, _micros(until), fading) for name in _named(store, names, patterns)]
    rows = [row for row in found if row is not None and (since is None or row["until_us"] > _some_micros(since))]
    _tell({"patterns": [row["pattern"] for row in rows], "merged": rows}, as_json)


@click.command()
@click.argument("pattern")
@_PATTERNS
@round_options
@click.option("--budget", type=click.IntRange(min=1), help="Settings to try; training.search_budget when not given.")
def learn(pattern: str, patterns: tuple[str, ...], budget: int | None, **shared: Any) -> None:
    """Learn a model of PATTERN from its counts, its settings searched on held-out tracks; it waits as challenger."""
    from foresail.pipeline.jobs.learn_counted import learn_counted

    _tell(learn_counted(_round(pattern, patterns, budget, **shared)), shared["as_json"])


@click.command()
@click.argument("pattern")
@_PATTERNS
@round_options
def evaluate(pattern: str, patterns: tuple[str, ...], **shared: Any) -> None:
    """Score champion and challenger of PATTERN on the newest held-out tracks: what `promote --if-better` compares."""
    from foresail.pipeline.jobs.learn_counted import judge_rivals

    _tell(judge_rivals(_round(pattern, patterns, None, **shared)), shared["as_json"])


@click.command()
@click.argument("names", nargs=-1)
@_PATTERNS
@round_options
@click.option("--tolerance", default=0.1, show_default=True, help="A score lower by more than this has degraded.")
@click.option("--metric", default="mcc", show_default=True, help="The score that is compared.")
@click.option("--exit-code", is_flag=True, help=f"End with code {FINE} when no model has degraded.")
def live(
    names: tuple[str, ...], patterns: tuple[str, ...], tolerance: float, metric: str, exit_code: bool, **shared: Any
) -> None:
    """How the champions of NAMES (all of --patterns when none is named) did in the newest interval."""
    from foresail.pipeline.jobs.learn_counted import judge_live

    chosen = _named(store_at(shared["place"]), names, patterns)
    rows = [judge_live(_round(name, patterns, None, **shared), tolerance, metric) for name in chosen]
    degraded = [row["pattern"] for row in rows if row["degraded"]]
    _tell({"degraded": degraded, "patterns": rows}, shared["as_json"])
    if exit_code and not degraded:
        raise SystemExit(FINE)


def store_at(place: str) -> "ModelStore":
    """The store that --models names."""
    from foresail.pipeline.runtime.session import start_spark
    from foresail.pipeline.settings import read_settings
    from foresail.pipeline.training.model_store import open_store

    return open_store(place, lambda: start_spark(read_settings(), short_work=True))


def _named(store: "ModelStore", names: tuple[str, ...], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """These patterns, else what the store has of --patterns: of a pattern that left the catalog nothing is asked."""
    from foresail.pipeline.catalogs import catalog_named

    if names:
        return names
    known = {entry.name for entry in catalog_named(patterns, None, {})} if patterns else None
    return tuple(name for name in store.patterns() if known is None or name in known)


def _round(
    pattern: str,
    patterns: tuple[str, ...],
    budget: int | None,
    place: str,
    until: datetime | None,
    settings_file: Path | None,
    as_json: bool,  # noqa: ARG001 - the other half of the shared options
) -> "Round":
    from foresail.pipeline.catalogs import catalog_named
    from foresail.pipeline.jobs.learn_counted import Round
    from foresail.pipeline.settings import read_settings

    settings = read_settings(settings_file)
    training = settings.training
    if budget is not None:
        training = training.model_copy(update={"search_budget": budget})
    entry = catalog_named(patterns or (pattern,), None, {})[pattern]
    return Round(store_at(place), entry, _micros(until), settings.forecasting, training)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else _some_micros(moment)


def _some_micros(moment: datetime) -> int:
    return round(moment.replace(tzinfo=UTC).timestamp()) * 1_000_000


def _tell(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary))
        return
    for key, value in summary.items():
        click.echo(f"{key}: {value}")


@click.command("explain")
@click.argument("model_version")
@click.argument("chain_state", type=click.IntRange(min=0))
@click.option("--models", "place", required=True, metavar="DIR", help="The model store: a folder or a URI.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_command(model_version: str, chain_state: int, place: str, as_json: bool) -> None:
    """Explain a forecast by its columns MODEL_VERSION and CHAIN_STATE: what was seen, and when the match may come."""
    from foresail.models.explain import explain

    model = model_named(store_at(place), model_version)
    if model.trees is not None:
        msg = (
            f"{model.version} is a {model.kind} model: what moved its forecasts is told where they become positive, in "
            "the column `because`."
        )
        raise click.UsageError(msg)
    if chain_state >= model.chain.states:
        msg = f"{model.version} has the chain states 0 to {model.chain.states - 1}: {chain_state} is none of them."
        raise click.UsageError(msg)
    why = explain(model, chain_state)
    if as_json:
        click.echo(json.dumps(_as_json(model, why)))
        return
    _show(model, why)


def model_named(store: "ModelStore", version: str) -> "Model":
    """The model that a forecast names, also where it is that of a group of tracks."""
    from foresail.models.errors import UnknownModelError
    from foresail.models.identity import pattern_of

    whole, at, group = version.partition("@")
    pattern = pattern_of(whole) or whole
    if not at:
        return store.load(pattern, "champion" if pattern == whole else whole)
    for name in store.versions(pattern):
        groups = store.load_groups(pattern, name)
        if groups and group in groups.models and groups.models[group].version == version:
            return groups.models[group]
    msg = f"{store.storage.place}: no model {version} of {pattern}. `foresail models list` tells which there are."
    raise UnknownModelError(msg)


def _as_json(model: "Model", why: "Explanation") -> dict[str, Any]:
    return {
        "model_version": model.version,
        "sentence": why.sentence,
        "context": list(why.context),
        "state": why.state,
        "progress": why.progress,
        "waiting": [round(float(value), 6) for value in why.probability],
        "meanings": dict(zip(model.header.condition_names, model.header.condition_texts, strict=True)),
    }


def _show(model: "Model", why: "Explanation") -> None:
    from foresail.pipeline.reports.plots import text_curve

    click.echo(why.sentence)
    words = {word for text in why.context for word in text.replace(",", " ").split()}
    for name, text in zip(model.header.condition_names, model.header.condition_texts, strict=True):
        if name in words:
            click.echo(f"  {name}: {text}")
    step_s = model.header.sampling_step_s
    pace = f" (one event is about {step_s:.3g} s)" if step_s else ""
    click.echo(f"\nChance that the match comes with the n-th event from now{pace}:")
    for line in text_curve(why.probability.tolist()):
        click.echo(line)
