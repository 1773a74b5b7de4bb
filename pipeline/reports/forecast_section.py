"""Forecasts for a reader: the warnings on the map, and some of them explained with their waiting-time curves."""

from collections.abc import Mapping, Sequence

from foresail.models.explain import explain
from foresail.models.model import Model
from foresail.pipeline.reports.map_view import Mark, MarkGroup
from foresail.pipeline.reports.page import (
    Column,
    Markup,
    count_of,
    joined,
    moment,
    note,
    plain,
    share,
    span,
    table,
    tag,
    titled,
)
from foresail.pipeline.reports.plots import Axis, Plot, Sign, band, bars, figure, upright
from foresail.pipeline.reports.warned import Warned, Warnings

EXPLAINED_EACH = 2
OUTCOMES = (
    (True, "Warning, and it came", Sign(2, "circle", open=True)),
    (False, "Warning, and it did not come", Sign(1, "triangle", open=True)),
)


def warning_groups(warnings: Warnings, names: Mapping[str, str]) -> tuple[MarkGroup, ...]:
    """Marks of the warnings by what came of them, the larger the more likely."""
    groups = []
    for came, label, sign in OUTCOMES:
        mine = [warned for warned in warnings.shown if warned.came_true == came]
        marks = tuple(_mark(warned, names) for warned in mine if warned.lon is not None and warned.lat is not None)
        groups.append(MarkGroup(f"warnings-{came}".lower(), label, sign, marks, len(mine)))
    return tuple(groups)


def _mark(warned: Warned, names: Mapping[str, str]) -> Mark:
    assert warned.lon is not None, "only warnings with a place are marked"
    assert warned.lat is not None, "only warnings with a place are marked"
    time = warned.time.timestamp()
    outcome = f"it came {count_of(warned.came_after, 'event')} later" if warned.came_after else "it did not come"
    about = f"{titled(warned.pattern)}{_at(warned)}, chance {share(warned.probability)}"
    who = names.get(warned.track, warned.track)
    lines = (about, who, f"{moment(warned.time, seconds=True)} UTC", outcome)
    return Mark(warned.lon, warned.lat, time, time, lines, weight=warned.probability, track=who)


def warnings_table(warnings: Warnings, models: Mapping[str, Model]) -> Markup:
    """For each pattern how many warnings there were and how many came true."""
    columns = (
        Column("pattern"), Column("a match is expected within", True), Column("warned from a chance of", True),
        Column("warnings", True), Column("came true", True), Column("how long before, half of them", True),
    )  # fmt: skip
    rows = [_line(models[name], warnings.of(name)) for name in models]
    return table(columns, rows)


def _line(model: Model, warned: Sequence[Warned]) -> tuple[str, ...]:
    right = sorted(each.came_after for each in warned if each.came_after)
    step_s = model.header.sampling_step_s
    ahead = "–"
    if right:
        middle = right[len(right) // 2]
        ahead = f"{count_of(middle, 'event')}" + (f" ({span(middle * step_s)})" if step_s else "") + " or more"
    return (
        titled(model.pattern),
        count_of(model.settings.events_ahead, "event"),
        share(model.settings.threshold),
        f"{len(warned):,}",
        f"{len(right):,} ({share(len(right) / len(warned))})" if warned else "0",
        ahead,
    )


def explained(warnings: Warnings, models: Mapping[str, Model], names: Mapping[str, str]) -> Markup:
    """Of each pattern a warning that was right and one that was not, with why it was given."""
    parts = [
        _explained(warned, model, names) for name, model in models.items() for warned in examples(warnings.of(name))
    ]
    return joined(parts) if parts else note("There was no warning to explain.")


def examples(warned: Sequence[Warned]) -> tuple[Warned, ...]:
    """A right one, told early and with confidence, and the wrong one that was surest of itself."""
    right = sorted((w for w in warned if w.came_after), key=lambda w: (-w.probability * (w.came_after or 0), w.time))
    wrong = sorted((w for w in warned if not w.came_after), key=lambda w: (-w.probability, w.time))
    return (*right[:1], *wrong[: EXPLAINED_EACH - 1])


def _explained(warned: Warned, model: Model, names: Mapping[str, str]) -> Markup:
    if model.trees is not None:
        return _explained_by_trees(warned, model, names)
    why = explain(model, warned.chain_state)
    who = names.get(warned.track, warned.track)
    seen = (
        joined((tag("span", text, class_="chip") for text in why.context), " ")
        if why.context
        else Markup("nothing more")
    )
    words = tag(
        "div",
        tag("h4", f"{titled(warned.pattern)}{_at(warned)}: {'right' if warned.came_true else 'wrong'}"),
        tag("p", f"{who}, {moment(warned.time, seconds=True)} UTC", class_="note"),
        tag("p", f"{_sentence(why.sentence, warned.pattern)} ", tag("b", _outcome(warned))),
        tag("p", "The events before it: ", seen),
        _meanings(model, why.context),
    )
    return tag("div", words, _curve(warned, model, why.probability.tolist()), class_="forecast")


def _explained_by_trees(warned: Warned, model: Model, names: Mapping[str, str]) -> Markup:
    """What moved the chance, for it and against it; trees have no curve for a state, each event has its own."""
    about = f"A match is expected within {count_of(model.settings.events_ahead, 'event')}"
    words = tag(
        "div",
        tag("h4", f"{titled(warned.pattern)}{_at(warned)}: {'right' if warned.came_true else 'wrong'}"),
        tag("p", f"{names.get(warned.track, warned.track)}, {moment(warned.time, seconds=True)} UTC", class_="note"),
        tag("p", f"{about} with a probability of {share(warned.probability)}. ", tag("b", _outcome(warned))),
        tag("p", f"What counts most {warned.because}." if warned.because else "No input counts more than others."),
    )
    return tag("div", words, class_="forecast")


def _outcome(warned: Warned) -> str:
    if warned.came_after:
        return f"It came {count_of(warned.came_after, 'event')} later."
    return "It did not come in that time."


def _at(warned: Warned) -> str:
    return f" at {warned.instance}" if warned.instance else ""


def _sentence(sentence: str, pattern: str) -> str:
    said = sentence.replace(pattern, plain(pattern), 1)
    return said[:1].upper() + said[1:]


def _meanings(model: Model, context: Sequence[str]) -> Markup | None:
    """What the names in the context mean."""
    texts = dict(zip(model.header.condition_names, model.header.condition_texts, strict=True))
    words = {word for text in context for word in text.replace(",", " ").split()}
    used = [(tag("code", name), tag("code", text)) for name, text in texts.items() if name in words]
    if not used:
        return None
    return table((Column("where"), Column("means")), used, "dense")


def _curve(warned: Warned, model: Model, probability: Sequence[float]) -> Markup:
    most = max(*probability, 0.01)
    horizon, within = len(probability), model.settings.events_ahead
    plot = Plot(Axis("events from now", 0.5, horizon + 0.5), Axis("", 0.0, most * 1.08, percent=True))
    marks = [band(plot, 0.5, within + 0.5)]
    if warned.came_after:
        marks.append(upright(plot, warned.came_after, "it came"))
    picture = bars(plot, "waiting time", [(n + 1.0, p) for n, p in enumerate(probability)], *marks, width=1.0)
    step_s = model.header.sampling_step_s
    pace = f" One event is about {span(step_s)}." if step_s else ""
    about = count_of(within, "event")
    chance = f"Chance that the match comes with just that event; tinted: the {about} the warning is about.{pace}"
    return figure("When it may come", chance, picture)
