"""What the saved state of a line belongs to: for each of its parts the patterns or models, in the order of columns.

A checkpoint outlives the line that wrote it, so its state tells its own form. A line that finds another form than its
own goes on with the patterns and models that both have, begins the others anew, and says which these are.
"""

from collections.abc import Iterator
from typing import Any

from foresail.models.family_forecaster import fresh_family_forecaster_state
from foresail.models.forecaster import fresh_forecaster_state
from foresail.patterns.recognition.forms import MonitorForm, PartForm, PatternForm
from foresail.patterns.recognition.migration import blank, blank_family, blank_memory, progress_of
from foresail.patterns.recognition.protocol import LoadModel

NO_TRACKS = progress_of(())


def template(part: PartForm) -> Any:
    """The state of no tracks of a recogniser of that form: the shape in which bytes are read."""
    models, places = len(part.models), sum(model.places for model in part.models)
    match part.kind:
        case "patterns":
            return blank(part.recognised, NO_TRACKS)
        case "memory":
            return blank_memory(part.recognised, NO_TRACKS)
        case "families":
            return blank_family(part.recognised, NO_TRACKS)
        case "models":
            return fresh_forecaster_state(0, part.models)
        case "family_models":
            return fresh_family_forecaster_state(0, models, places)


def what_begins_anew(before: MonitorForm, after: MonitorForm, load: LoadModel) -> list[str]:
    """What is different for someone who reads the results, a sentence each."""
    return [*_of_patterns(before, after), *_of_models(before, after, load)]


def _of_patterns(before: MonitorForm, after: MonitorForm) -> Iterator[str]:
    was, now = _patterns(before), _patterns(after)
    for name, pattern in now.items():
        old = was.get(name)
        if old is None:
            yield f"{name} version {pattern.version}: is new here and begins now"
        elif old.version != pattern.version:
            yield f"{name}: version {pattern.version} in place of {old.version} begins anew"
        elif old != pattern:
            yield f"{name} version {pattern.version}: is not what it was under that version, and begins anew"
    for name in was:
        if name not in now:
            yield f"{name}: is looked for no more; what was under way ends without a word"


def _of_models(before: MonitorForm, after: MonitorForm, load: LoadModel) -> Iterator[str]:
    was, now = _models(before), _models(after)
    for name, version in now.items():
        if name not in was:
            yield f"{name}: is forecast from now on, by {version}"
        elif was[name] != version and load(name, was[name]) is None:
            yield f"{name}: {version} begins anew, for {was[name]} is not in the store any more"
        elif was[name] != version:
            yield f"{name}: is forecast by {version} in place of {was[name]}, with the histories there are"
    for name in was:
        if name not in now:
            yield f"{name}: is forecast no more"


def _patterns(form: MonitorForm) -> dict[str, PatternForm]:
    parts = [part.recognised for part in form.parts]
    return {pattern.name: pattern for part in parts for pattern in (*part.patterns, *part.counting)}


def _models(form: MonitorForm) -> dict[str, str]:
    return {model.pattern: model.version for part in form.parts for model in part.models}
