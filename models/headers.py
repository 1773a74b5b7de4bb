"""The header of a model as JSON, and back."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from foresail.models.identity import identity_as_json, identity_from_json
from foresail.models.model import Header, ModelSettings, Training
from foresail.models.suffix_tree import LearnSettings
from foresail.patterns.errors import Place
from foresail.patterns.spec import AfterMatch, Output, PatternSpec, Report, Text

_PLAIN = ("model_version", "max_order", "sampling_step_s", "constant_step_s")
_TUPLES = ("condition_names", "condition_texts", "mean_seconds", "notes")
_ENUMS = {"after_match": AfterMatch, "output": Output, "report": Report}
_TEXTS = ("where", "features")


def header_as_json(header: Header) -> dict[str, Any]:
    """The header as plain values."""
    return {
        **{name: getattr(header, name) for name in _PLAIN},
        **{name: list(getattr(header, name)) for name in _TUPLES},
        "identity": identity_as_json(header.identity),
        "spec": spec_as_json(header.spec),
        "settings": asdict(header.settings),
        "training": asdict(header.training),
        "scores": dict(header.scores),
    }


def header_from_json(held: Mapping[str, Any]) -> Header:
    """The header that `header_as_json` wrote."""
    settings = dict(held["settings"])
    learn = LearnSettings(**settings.pop("learn"))
    plain: dict[str, Any] = {name: held[name] for name in _PLAIN} | {name: tuple(held[name]) for name in _TUPLES}
    return Header(
        identity=identity_from_json(held["identity"]),
        spec=spec_from_json(held["spec"]),
        settings=ModelSettings(learn=learn, **settings),
        training=Training(**held["training"]),
        scores=dict(held["scores"]),
        **plain,
    )


def spec_as_json(spec: PatternSpec) -> dict[str, Any]:
    """A pattern as written, so that it can be compiled again; places become those of the model."""
    held = {field.name: getattr(spec, field.name) for field in fields(PatternSpec)}
    return held | {
        "pattern": spec.pattern.text,
        "parameters": dict(spec.parameters),
        "exclusive": [list(group) for group in spec.exclusive],
        **{name: [[text.name, text.text] for text in held[name]] for name in _TEXTS},
        **{name: held[name].value for name in _ENUMS},
    }


def spec_from_json(held: Mapping[str, Any]) -> PatternSpec:
    """The spec that `spec_as_json` wrote."""
    name = held["name"]
    texts = {kind: tuple(Text(key, text, Place(f"{name}.{kind}.{key}")) for key, text in held[kind]) for kind in _TEXTS}
    enums = {key: kind(held[key]) for key, kind in _ENUMS.items()}
    exclusive = tuple(tuple(group) for group in held["exclusive"])
    pattern = Text("pattern", held["pattern"], Place(name))
    return PatternSpec(**{**held, **texts, **enums, "exclusive": exclusive, "pattern": pattern})
