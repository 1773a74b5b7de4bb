"""`foresail models explain`: why a forecast said what it said."""

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foresail.models.explain import Explanation
    from foresail.models.model import Model
    from foresail.models.store import ModelStore


@click.command("explain")
@click.argument("model_version")
@click.argument("chain_state", type=click.IntRange(min=0))
@click.option("--models", "place", required=True, metavar="DIR", help="The model store: a folder or a URI.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain_command(model_version: str, chain_state: int, place: str, as_json: bool) -> None:
    """Explain a forecast by its columns MODEL_VERSION and CHAIN_STATE: what was seen, and when the match may come."""
    from foresail.models.explain import explain
    from foresail.pipeline.cli.model_rounds import store_at

    model = model_named(store_at(place), model_version)
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
    from foresail.models.versions import pattern_of

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
    from foresail.pipeline.reports.text_curve import text_curve

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
