"""One pattern of the catalog as an analyst writes it: the sentence, the conditions, the pattern, how to report it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, LiteralString, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from foresail.patterns.catalog.nodes import PlacedText
from foresail.patterns.durations import DURATION_PATTERN, WINDOW_PATTERN, parse_duration, parse_window
from foresail.patterns.errors import PatternError, Place, nearest
from foresail.patterns.language.parser import PATTERN_WORDS
from foresail.patterns.spec import DEFAULT_LIMIT, MOST_LISTED, AfterMatch, Output, PatternSpec, Report, Text

if TYPE_CHECKING:
    from foresail.patterns.drawing import Drawing

_CONDITION_WORDS = ("and", "or", "in", "is", "known", "unknown", "true", "false", "null")
_FUNCTIONS = ("abs", "min", "max", "angle", "distance_m", "seconds_since")
RESERVED = frozenset((*PATTERN_WORDS, *_CONDITION_WORDS, *_FUNCTIONS))
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

LEARN = "learn"
MOST_LEAVES = 48
"""The conditions of a pattern and its features share 64 bits."""

Parameter: TypeAlias = bool | int | float | str


def fault_at(path: tuple[str, ...], message: str, kind: LiteralString = "fault_at") -> PydanticCustomError:
    """A fault of the value at `path`, found while looking at several together."""
    return PydanticCustomError(kind, "{message}", {"path": path, "message": message})


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest known word and all of them, as the second half of an error."""
    known = list(known)
    return f"{nearest(word, known)}Known: {', '.join(known)}." if known else "There is none."


def check_name(name: str, what: str) -> str:
    """The name, if patterns and conditions can use it."""
    if not _NAME.fullmatch(name):
        msg = f"'{name}' cannot be the name of {what}. Use letters, digits and underscores, not beginning with a digit."
        raise ValueError(msg)
    if name in RESERVED:
        msg = f"'{name}' is a word of the language and cannot be the name of {what}. Choose another: '{name}_1'."
        raise ValueError(msg)
    return name


def _check_keys(held: Mapping[str, Any], what: str) -> None:
    for name in held:
        try:
            check_name(name, what)
        except ValueError as error:
            raise fault_at((name,), str(error), kind="bad_name") from None


def _is_text(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    msg = f"{value} has no unit. Write it with one, such as {value}min."
    raise ValueError(msg)


def _readable(parse: Callable[[str], Any]) -> AfterValidator:
    def check(text: str | None) -> str | None:
        try:
            return text if text is None or parse(text) else None
        except PatternError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(check)


Duration = Annotated[
    str,
    BeforeValidator(_is_text),
    _readable(parse_duration),
    Field(json_schema_extra={"pattern": DURATION_PATTERN, "examples": ["30min", "2h", "45s"]}),
]
Span = Annotated[
    str,
    BeforeValidator(_is_text),
    _readable(parse_window),
    Field(json_schema_extra={"pattern": WINDOW_PATTERN, "examples": ["2h", "30min", "100 events"]}),
]


Groups: TypeAlias = Annotated[tuple[Annotated[tuple[str, ...], Field(strict=False)], ...], Field(strict=False)]


def _learn_alone(features: Any) -> Any:
    """`features: learn` is short for `features: {learn: {}}`; so is a `learn:` without anything below it."""
    if features == LEARN:
        return {LEARN: {}}
    if isinstance(features, dict) and features.get(LEARN, "") is None:
        return {**features, LEARN: {}}
    return features


class Part(BaseModel):
    """A group of keys of an entry: strict, so that a misspelt key is told."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class ForEach(Part):
    """A pattern family: one instance of the pattern for each feature of a layer."""

    layer: str = Field(description="The layer whose features make the instances.")
    as_: str = Field(alias="as", description="What the conditions call the feature: `port` in `port.distance_m`.")
    radius_m: float | None = Field(
        None, gt=0, description="Beyond this distance from a feature an event counts as endlessly far from it."
    )

    @field_validator("as_")
    @classmethod
    def _usable(cls, name: str) -> str:
        return check_name(name, "a feature")


class Forecast(Part):
    """How the pattern is forecast unless the command says otherwise."""

    model: Literal["chain", "hazard", "forest", "auto"] = Field(
        "chain",
        description=(
            "What forecasts: the `chain` of contexts; `hazard`, boosted trees over the attributes and their recent "
            "past; `forest`, a slower one; `auto`, the one that does best on the newest training events."
        ),
    )
    order: int = Field(3, ge=0, le=12, description="The longest context the model keeps, in events.")
    horizon: int = Field(60, ge=1, le=10_000, description="How many events ahead a forecast may look.")
    kind: Literal["within", "interval", "most_likely"] = Field("within", description="What a forecast says.")
    within: int | None = Field(None, ge=1, description="For the kind `within`: how many events ahead a match counts.")
    threshold: float | Literal["auto"] = Field(
        "auto", description="Least probability for a positive forecast; `auto` chooses it when the model is trained."
    )
    contexts: Literal["variable", "full"] = Field(
        "variable", description="Which contexts the model keeps: those that change what follows, or all of its order."
    )
    forecast_in_accepting: bool = Field(
        False, description="Whether to forecast the next match on an event that completes one."
    )
    per: str | None = Field(
        None,
        description="Also a model for each value of this attribute (`vessel_type`), or for each `track`.",
    )

    @field_validator("threshold")
    @classmethod
    def _probability(cls, threshold: float | str) -> float | str:
        if isinstance(threshold, float) and not 0 <= threshold <= 1:
            msg = f"{threshold} is not a probability. Write a number from 0 to 1, or auto."
            raise ValueError(msg)
        return threshold

    @model_validator(mode="after")
    def _within_horizon(self) -> "Forecast":
        if self.within is not None and self.within > self.horizon:
            msg = f"{self.within} events lie beyond the horizon of {self.horizon}. Make the horizon at least as long."
            raise fault_at(("within",), msg)
        return self


class Learn(Part):
    """Features learned from training data: the leaves of a shallow tree, as conditions of the alphabet."""

    attributes: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description="What the tree may read; when empty, what the pattern's conditions and named features read."
    )
    leaves: int = Field(MOST_LEAVES, ge=2, le=MOST_LEAVES, description="The most leaves the tree may have.")


def _feature_kind(value: Any) -> str:
    return LEARN if isinstance(value, dict | Learn) else "text"


Feature: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[Learn, Tag(LEARN)],
    Discriminator(_feature_kind),  # so that a fault within `learn` is told as such, not as a text that is none
]


class Alert(Part):
    """How a match becomes an alert, and what keeps alerts from flapping."""

    severity: Literal["info", "warning", "critical"] = Field("warning", description="How loud the alert is.")
    min_dwell: Duration | None = Field(None, description="How long an episode must last before it is an alert.")
    cool_down: Duration | None = Field(None, description="No second alert of the pattern and track within this time.")


class PatternEntry(Part):
    """A pattern of the catalog."""

    name: str = Field(description="The pattern's name, unique in the catalog.")
    version: int = Field(1, ge=1, description="Counted up whenever the meaning of the pattern changes.")
    domain: Literal["maritime", "fleet"] | None = Field(None, description="Vessels or vehicles; null: either.")
    says: str = Field(min_length=1, description="What the pattern finds, in one sentence.")
    source: str | None = Field(None, description="Where the definition comes from.")
    notes: str | None = Field(None, description="What a reader should know beyond the sentence.")
    parameters: dict[str, Parameter] = Field(
        default_factory=dict, description="Named thresholds that the conditions use and a user can override."
    )
    reads: Literal["positions", "pairs"] = Field(
        "positions", description="What its events are: positions of one track, or of two tracks near each other."
    )
    for_each: ForEach | None = Field(None, description="Makes the pattern a family, one instance per feature.")
    where: dict[str, str] = Field(default_factory=dict, description="The conditions, by name.")
    pattern: str = Field(min_length=1, description="The pattern over the conditions.")
    window: Span | None = Field(None, description="The longest a match may span, in time or in events.")
    max_gap: Duration | None = Field(
        None, description="A longer silence of the track ends every running match; null: no silence does."
    )
    after_match: Literal["continue", "restart"] = Field(
        "continue", description="`continue` finds all matches; `restart` begins anew after each, so that none overlap."
    )
    output: Literal["detect", "count", "enumerate"] = Field(
        "detect", description="That there is a match; how many there are; or which events make each."
    )
    report: Literal["each", "episodes"] = Field(
        "each", description="Every detection, or consecutive detections merged into episodes."
    )
    min_dwell: Duration | None = Field(
        None, description="With `report: episodes`: an episode is reported once it has lasted this long."
    )
    limit: int = Field(
        DEFAULT_LIMIT,
        ge=1,
        le=MOST_LISTED,
        description="With `output: enumerate`: the most sets of events per detection.",
    )
    exclusive: Groups = Field((), description="Groups of conditions of which at most one holds.")
    features: Annotated[dict[str, Feature], BeforeValidator(_learn_alone)] = Field(
        default_factory=dict,
        description=(
            "Further conditions, for forecasting only. `learn` (alone, or as a key with `attributes` and `leaves`) has "
            "`foresail train` learn conditions from the events, which take the place of the named ones."
        ),
        json_schema_extra={"type": ["object", "string"], "anyOf": [{"const": LEARN}, {"type": "object"}]},
    )
    forecast: Forecast | None = Field(None, description="Defaults for forecasting the pattern.")
    alert: Alert | None = Field(None, description="How a match becomes an alert.")

    _texts: dict[tuple[str, ...], PlacedText] = PrivateAttr(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        return check_name(name, "a pattern")

    @field_validator("parameters")
    @classmethod
    def _usable_parameters(cls, parameters: dict[str, Parameter]) -> dict[str, Parameter]:
        _check_keys(parameters, "a parameter")
        return parameters

    @field_validator("where", "features")
    @classmethod
    def _usable_conditions(cls, conditions: dict[str, Any]) -> dict[str, Any]:
        _check_keys(conditions, "a condition")
        return conditions

    @field_validator("features")
    @classmethod
    def _learn_is_no_condition(cls, features: dict[str, str | Learn]) -> dict[str, str | Learn]:
        for name, value in features.items():
            if (name == LEARN) != isinstance(value, Learn):
                way_out = "Give it `attributes` and `leaves`" if name == LEARN else "Write the text of a condition"
                raise fault_at((name,), f"'{name}' cannot be this feature. {way_out}.")
        return features

    @model_validator(mode="after")
    def _consistent(self) -> "PatternEntry":
        taken = dict.fromkeys(self.parameters, "parameters")
        for kind, names in (("where", self.where), ("features", self.named_features)):
            for name in names:
                if name in taken:
                    msg = f"'{name}' is also one of the {taken[name]}. Give one of the two another name."
                    raise fault_at((kind, name), msg)
                taken[name] = "conditions" if kind == "where" else kind
        if self.min_dwell and self.report != "episodes":
            msg = "only episodes have a dwell. Write report: episodes, or leave min_dwell out."
            raise fault_at(("min_dwell",), msg)
        if self.report == "episodes" and self.output != "detect":
            msg = f"episodes go with output: detect, not {self.output}. Drop one of the two."
            raise fault_at(("report",), msg)
        known = {*self.where, *self.named_features}
        for name in (name for group in self.exclusive for name in group):
            if name not in known:
                raise fault_at(("exclusive",), f"unknown condition '{name}'. {did_you_mean(name, known)}")
        return self

    @property
    def named_features(self) -> dict[str, str]:
        """The features that are written down, by name."""
        return {name: text for name, text in self.features.items() if isinstance(text, str)}

    @property
    def learn(self) -> Learn | None:
        """How features are learned; None where they are not."""
        found = self.features.get(LEARN)
        return found if isinstance(found, Learn) else None

    def spec(self) -> PatternSpec:
        """What the compiler is given."""
        window = parse_window(self.window) if self.window else None
        return PatternSpec(
            name=self.name,
            version=self.version,
            pattern=self._text("pattern"),
            where=tuple(self._text("where", name) for name in self.where),
            features=tuple(self._text("features", name) for name in self.named_features),
            parameters=self.parameters,
            exclusive=self.exclusive,
            window_us=window.size if window and window.kind == "time" else None,
            window_events=window.size if window and window.kind == "count" else None,
            max_gap_us=parse_duration(self.max_gap) if self.max_gap else None,
            after_match=AfterMatch(self.after_match),
            output=Output(self.output),
            report=Report(self.report),
            min_dwell_us=parse_duration(self.min_dwell) if self.min_dwell else 0,
            limit=self.limit,
            family=self.for_each.as_ if self.for_each else None,
        )

    def _text(self, *path: str) -> Text:
        placed = self.placed(*path)
        return Text(path[-1], placed.text, placed.place)

    def placed(self, *path: str) -> PlacedText:
        """The text at `path` as written in its file, or as held when the entry was not read from one."""
        if path in self._texts:
            return self._texts[path]
        held: Any = self
        for step in path:
            held = held[step] if isinstance(held, Mapping) else getattr(held, step)
        return PlacedText(str(held), Place(f"{self.name}.{'.'.join(path)}"))

    def written_as(self, texts: Mapping[tuple[str, ...], PlacedText]) -> "PatternEntry":
        """The same entry that also knows where its texts stand."""
        entry = self.model_copy()
        entry._texts = dict(texts)
        return entry

    def draw(self) -> "Drawing":
        """The automaton of the pattern as a picture, which shows itself in a notebook."""
        from foresail.patterns.compiler import compile_pattern  # noqa: PLC0415 - entries are read without compiling
        from foresail.patterns.drawing import Drawing, diagram_of  # noqa: PLC0415

        return Drawing(diagram_of(compile_pattern(self.spec())))

    def with_values(self, **values: Any) -> "PatternEntry":
        """The same entry with some fields changed, checked anew."""
        held = {name: getattr(self, name) for name in self.model_fields_set}
        return PatternEntry.model_validate({**held, **values}).written_as(self._texts)


PARTS: dict[str, type[BaseModel]] = {"for_each": ForEach, "forecast": Forecast, "alert": Alert, LEARN: Learn}
"""The keys of an entry that hold keys of their own."""
