"""Which patterns of a catalog some events fit; where one does not, the reason in one line with the way out."""

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from foresail.patterns.catalog.entry import PatternEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.conditions import Attribute, AttributeType, attributes_of
from foresail.patterns.errors import UnknownAttributeError
from foresail.patterns.language.conditions import resolve_conditions, terminals_of
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.spec import without_features
from foresail.pipeline.errors import InputError

LAYER_ATTRIBUTE = re.compile(r"in_(?P<inside>\w+)|(?P<named>\w+)_(?:name|distance_m)")
"""How the attributes that a layer gives are called, after its kind."""
PLACE = re.compile(r"^\S+?: ")
LISTED = re.compile(r"\s*(?:Did you mean '[^']*'\? )?(?:Known attributes: .*|No attribute is known here\.)$")
LAYERED = re.compile(r"unknown attribute '\w+': (it comes from a layer)")


_log = logging.getLogger(__name__)
_Fitted = TypeVar("_Fitted")


@dataclass(frozen=True, slots=True)
class WaysOut:
    """What to do about what a layer would give, which differs between commands and the live line."""

    attribute: str
    layer: str


OF_COMMANDS = WaysOut(
    "Run `foresail enrich` with a layer of that kind, and take what it writes.", "Name a layers file with --layers."
)
OF_THE_STREAM = WaysOut(
    "Name a layer of that kind in the file of layers.file.", "Name a layers file with the setting layers.file."
)


OF_THE_API = WaysOut(
    "Run fs.enrich(events, LAYERS_FILE) with a layer of that kind, and look in what it gives.",
    "Name a layers file with layers=.",
)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The patterns that some events can show, each with its entry, and those left out with the reason."""

    patterns: tuple[tuple[PatternEntry, CompiledPattern], ...]
    skipped: Mapping[str, str]

    @property
    def plain(self) -> tuple[CompiledPattern, ...]:
        """Those that are no family."""
        return tuple(pattern for entry, pattern in self.patterns if entry.for_each is None)

    @property
    def families(self) -> tuple[tuple[PatternEntry, CompiledPattern], ...]:
        """Those that have an instance for each feature of a layer."""
        return tuple((entry, pattern) for entry, pattern in self.patterns if entry.for_each is not None)


def fit_patterns(
    catalog: Catalog,
    known: Mapping[str, AttributeType],
    columns: Sequence[str],
    layers: Collection[str],
    skip_unfit: bool,
    ways_out: WaysOut = OF_COMMANDS,
) -> Fitting:
    """Compile the catalog for recognition in events with these columns; a misfit is an error unless it is skipped."""

    def compiled(entry: PatternEntry) -> tuple[PatternEntry, CompiledPattern]:
        check_pairs(entry, columns)
        check_layer(entry, layers, columns, ways_out)
        pattern = compile_pattern(without_features(entry.spec()), known)
        for warning in pattern.warnings:
            _log.warning("%s", warning)
        return entry, pattern

    found, skipped = fit_catalog(catalog, compiled, skip_unfit=skip_unfit, ways_out=ways_out)
    return Fitting(tuple(found), skipped)


def attributes_read_by(entry: PatternEntry, features: bool = False) -> tuple[Attribute, ...]:
    """What the conditions of a pattern read for recognition, in the order of the text; with `features` theirs too."""
    spec = entry.spec() if features else without_features(entry.spec())
    tree = parse_pattern(spec.pattern.text, spec.pattern.place)
    kept = {terminal.register for terminal in terminals_of(tree)}
    read = [found for condition in resolve_conditions(tree, spec).parsed for found in attributes_of(condition)]
    return tuple(replace(found, owner=None) if found.owner in kept - {None} else found for found in read)


def fit_catalog(
    catalog: Catalog,
    compile_entry: Callable[[PatternEntry], _Fitted],
    *,
    skip_unfit: bool,
    where: str = "events",
    ways_out: WaysOut = OF_COMMANDS,
) -> tuple[list[_Fitted], dict[str, str]]:
    """What `compile_entry` makes of each pattern that fits, and those left out with the reason.

    For one that does not it raises `UnknownAttributeError` or `InputError`. Where none fits, `where` is to blame.
    """
    fitting: list[_Fitted] = []
    skipped: dict[str, str] = {}
    for entry in catalog:
        try:
            fitting.append(compile_entry(entry))
        except (UnknownAttributeError, InputError) as error:
            fault = unfit(error, ways_out)
            if not skip_unfit:
                raise fault from None
            skipped[entry.name] = str(fault)
    if not fitting:
        msg = (
            f"{where}: the events fit none of the {len(catalog)} patterns. {next(iter(skipped.values()), '')}".rstrip()
        )
        raise InputError(msg)
    return fitting, skipped


def layer_kind_of(attribute: str) -> str | None:
    """The kind of the layer that gives an attribute of that name; None where no layer does."""
    found = LAYER_ATTRIBUTE.fullmatch(attribute)
    return found["inside"] or found["named"] if found else None


def unfit(
    error: UnknownAttributeError | InputError, ways_out: WaysOut = OF_COMMANDS
) -> UnknownAttributeError | InputError:
    """The same fault, with the way out where events lack what a layer gives."""
    kind = layer_kind_of(error.name) if isinstance(error, UnknownAttributeError) else None
    if kind is None:
        return error
    assert isinstance(error, UnknownAttributeError), "only these name an attribute"
    layer = f"it comes from a layer of the kind '{kind}'"
    return InputError(f"{error.where}: unknown attribute '{error.name}': {layer}. {ways_out.attribute}")


def check_pairs(entry: PatternEntry, columns: Collection[str]) -> None:
    """A pattern of two tracks reads pairs, one of a single track reads positions."""
    given = "pairs" if {"track_a", "track_b"} <= set(columns) else "positions"
    if entry.reads != given:
        way_out = (
            "Make them with `foresail enrich --pairs-within METRES`." if entry.reads == "pairs" else "Leave it out."
        )
        msg = f"{entry.name}: reads {entry.reads}, but these events are {given}. {way_out}"
        raise InputError(msg)


def check_layer(
    entry: PatternEntry,
    layers: Collection[str],
    columns: Collection[str] = ("lon", "lat"),
    ways_out: WaysOut = OF_COMMANDS,
) -> None:
    """A family needs its layer, and events that have a position."""
    if entry.for_each is None:
        return
    wanted = entry.for_each.layer
    if wanted not in layers:
        known = f"Layers there: {', '.join(layers)}." if layers else ways_out.layer
        msg = f"{entry.name}: is a family over the layer '{wanted}', which is not at hand. {known}"
        raise InputError(msg)
    if not {"lon", "lat"} <= set(columns):
        msg = f"{entry.name}: is a family over a layer, but the events have no columns lon and lat. Add them."
        raise InputError(msg)


def left_out_lines(skipped: Mapping[str, str]) -> list[str]:
    """`a, b (reason)` for each reason to leave patterns out: without the place, without lists of what is known."""
    names: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        plain = LAYERED.sub(r"\1", LISTED.sub("", PLACE.sub("", reason, count=1)))
        names.setdefault(plain.rstrip("."), []).append(name)
    return [f"{', '.join(some)} ({reason})" for reason, some in names.items()]
