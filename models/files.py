"""Models as files: arrays and a JSON header in one npz, without pickle, with a checksum that is compared on load.

The header of a model as JSON, and back.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresail.models.archive import Archive, from_bytes, to_bytes
from foresail.models.automaton import SymbolAutomaton
from foresail.models.chain import Chain
from foresail.models.counts.counting import MOST_ORDER
from foresail.models.errors import ModelError, ModelFileError
from foresail.models.identity import alphabet_fingerprint, identity_as_json, identity_from_json
from foresail.models.model import Header, Model, ModelSettings, Training, finished
from foresail.models.suffix_tree import LearnSettings
from foresail.models.trees.part import part_from
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.conditions.parser import parse_condition
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


KIND = "model"
TREES = "trees"
_CHAIN = ("step", "state", "node", "context", "accepting", "distribution", "nodes")


def model_to_bytes(model: Model) -> bytes:
    """The content of a model file, to be sent to a worker."""
    return to_bytes(model_archive(model))


def model_from_bytes(content: bytes, where: str = "model", pattern: CompiledPattern | None = None) -> Model:
    """The model that `model_to_bytes` wrote."""
    return model_of(from_bytes(content, KIND, where), where, pattern)


def model_archive(model: Model) -> Archive:
    """What a model file holds."""
    arrays = {
        "codes": model.codes,
        "contexts": model.contexts,
        "delta": model.automaton.delta,
        "accepting": model.automaton.accepting,
        "waiting": model.waiting,
        **{f"chain_{name}": getattr(model.chain, name) for name in _CHAIN},
    }
    if model.seconds is not None:
        arrays["seconds"] = model.seconds
    values = header_as_json(model.header)
    if model.trees is not None:
        values[TREES] = model.trees.as_json()
        arrays |= model.trees.arrays()
    return Archive(KIND, values, arrays)


def model_of(archive: Archive, where: str, pattern: CompiledPattern | None = None) -> Model:
    """The model that `model_archive` took apart, checked."""
    arrays = archive.arrays
    try:
        header = header_from_json(archive.values)
        conditions = tuple(parse_condition(text) for text in header.condition_texts)
        _check(header, archive, where)
        model = finished(
            header,
            conditions,
            arrays["codes"],
            arrays["contexts"],
            SymbolAutomaton(arrays["delta"], arrays["accepting"]),
            Chain(**{name: arrays[f"chain_{name}"] for name in _CHAIN}),
            arrays["waiting"],
            arrays.get("seconds"),
        )
        if TREES in archive.values:
            model = replace(model, trees=part_from(archive.values[TREES], arrays))
    except ModelError:
        raise
    except Exception as error:  # a header made by somebody else can hold anything
        said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        msg = f"{where}: the model cannot be understood ({said}). Train it anew with `foresail train`."
        raise ModelFileError(msg) from None
    if pattern is not None:
        model.check(pattern)
    return model


def _check(header: Header, archive: Archive, where: str) -> None:
    """What a kernel would not survive: tables that point outside, or symbols that are not those of the alphabet."""
    arrays = archive.arrays
    step, symbols = arrays["chain_step"], header.identity.symbols
    states, waiting = len(arrays["delta"]), arrays["waiting"]
    sound = (
        _is(arrays["codes"], np.uint64, (symbols,))
        and _is(arrays["delta"], np.int32, (states, symbols))
        and _is(arrays["accepting"], np.bool_, (states,))
        and _is(arrays["chain_accepting"], np.bool_, (len(step),))
        and _is(arrays["chain_distribution"], np.float64, (len(arrays["chain_distribution"]), symbols))
        and _is(arrays["chain_nodes"], np.int32, (len(arrays["chain_nodes"]), symbols))
        and _is(waiting, np.float32, (len(step), waiting.shape[-1]))
        and ("seconds" not in arrays or _is(arrays["seconds"], np.float32, waiting.shape))
        and _inside(arrays["delta"], states)
        and _inside(arrays["chain_nodes"], len(arrays["chain_nodes"]))
        and 0 <= header.max_order <= MOST_ORDER
        and header.identity.alphabet == alphabet_fingerprint(list(header.condition_texts), arrays["codes"])
        and step.shape == (len(arrays["waiting"]), symbols)
        and all(len(arrays[f"chain_{name}"]) == len(step) for name in ("state", "node", "context", "accepting"))
        and _inside(step, len(step))
        and _inside(arrays["chain_state"], len(arrays["delta"]))
        and _inside(arrays["chain_context"], len(arrays["chain_distribution"]))
        and _inside(arrays["chain_node"], len(arrays["chain_nodes"]))
    )
    if not sound:
        msg = f"{where}: the tables of the model do not fit together. Train it anew with `foresail train`."
        raise ModelFileError(msg)


def _is(array: NDArray[Any], kind: Any, shape: tuple[int, ...]) -> bool:
    return bool(array.dtype == kind and array.shape == shape)


def _inside(values: NDArray[np.int32], end: int) -> bool:
    return bool(values.dtype == np.int32 and values.min(initial=0) >= 0 and values.max(initial=0) < end)
