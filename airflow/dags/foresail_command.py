"""A task is one `foresail` command: what the tasks of all schedules have in common."""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import Param

HOME = os.environ.get("AIRFLOW_FORESAIL_HOME", "/srv/foresail")
"""Where feeds, events, models and matches lie unless a run's parameters say otherwise."""
COMMAND = os.environ.get("AIRFLOW_FORESAIL_COMMAND", "foresail")
DOMAIN = os.environ.get("AIRFLOW_FORESAIL_DOMAIN")
"""maritime or fleet; where it is not set, a feed is of its own domain."""
SPARK_POOL = "foresail_spark"
"""Slots for commands that start Spark: create it with as many as the machine bears."""

DEFAULTS = {
    "owner": "foresail",
    "retries": int(os.environ.get("AIRFLOW_FORESAIL_RETRIES", "2")),
    "retry_delay": timedelta(minutes=2),
    "retry_exponential_backoff": True,
    "execution_timeout": timedelta(hours=2),
}
TAGS = ["foresail"]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ON_SCHEDULE = ("scheduled", "backfill")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TO = "--to {{ interval(dag_run, triggering_asset_events)[1] }}"
FROM_TO = "--from {{ interval(dag_run, triggering_asset_events)[0] }} " + TO
MODELS = "--models '{{ params.models }}'"
PATTERNS = "{% for name in params.patterns %} --patterns '{{ name }}'{% endfor %}"
LAYERS = "{% if params.layers %} --layers '{{ params.layers }}'{% endif %}"
PLACE = r"^[^']+$"

events_param = Param(f"{HOME}/events", type="string", pattern=PLACE, description="The folder of events.")
layers_param = Param(None, type=["null", "string"], pattern=PLACE, description="The layers file of families.")
patterns_param = Param(
    ["route"],
    type="array",
    items={"type": "string", "pattern": PLACE},
    minItems=1,
    description="Patterns of the built-in catalog by name, catalog files or folders.",
)
TRAINING = {
    "events": events_param,
    "models": Param(f"{HOME}/models", type="string", pattern=PLACE, description="The model store: a folder or a URI."),
    "patterns": patterns_param,
    "layers": layers_param,
    "margin": Param(0.01, type="number", minimum=0, description="By how much a challenger must be better."),
    "metric": Param("mcc", type="string", enum=["mcc", "f1", "roc_auc"], description="The score that is compared."),
    "budget": Param(12, type="integer", minimum=1, maximum=200, description="Settings that are tried per pattern."),
    "half_life_days": Param(None, type=["null", "number"], exclusiveMinimum=0, description="Old counts fade."),
    "stream_settings": Param(
        None, type=["null", "string"], pattern=PLACE, description="The settings file of the stream to tell."
    ),
}
"""What a run of `train_models` can be told; `evaluate_live` hands it on."""


def foresail(task_id: str, words: str, **more: Any) -> BashOperator:
    """A task that runs `foresail WORDS`."""
    return BashOperator(task_id=task_id, bash_command=f"{COMMAND} {words}", append_env=True, **more)


def interval_of(
    dag_run: Any, updates: Mapping[Any, Iterable[Any]] | None = None, unit: timedelta = DAY
) -> tuple[str, str]:
    """From when until when a run looks.

    Its data interval if it is on schedule. Else the whole units of time that the updates of assets tell of, which have
    started it; or the last whole unit before its date (Airflow gives such a run the interval before now instead).
    """
    if dag_run.run_type in ON_SCHEDULE:
        return text(dag_run.data_interval_start), text(dag_run.data_interval_end)
    extras = [update.extra for some in (updates or {}).values() for update in some]
    told = [datetime.fromisoformat(extra[key]) for extra in extras for key in ("from", "to") if key in extra]
    if not told:
        end = begin_of(moment_of(dag_run), unit)
        return text(end - unit), text(end)
    return text(begin_of(min(told), unit)), text(begin_of(max(told) - timedelta.resolution, unit) + unit)


def moment_of(dag_run: Any) -> datetime:
    """When a run looks back: at the end of its data interval if it is on schedule, else at its date."""
    on_schedule = dag_run.run_type in ON_SCHEDULE
    return dag_run.data_interval_end if on_schedule else dag_run.logical_date or dag_run.run_after


def begin_of(moment: datetime, unit: timedelta) -> datetime:
    """The begin of the hour or day that `moment` is in."""
    return moment - (moment - EPOCH) % unit


def text(moment: datetime) -> str:
    """A time as the command line takes it, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
