"""A task is one `foresail` command: what the tasks of all schedules have in common."""

import os
from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import Param

HOME = os.environ.get("AIRFLOW_FORESAIL_HOME", "/srv/foresail")
"""Where feeds, events, models and matches lie unless a run's parameters say otherwise."""
COMMAND = os.environ.get("AIRFLOW_FORESAIL_COMMAND", "foresail")
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
FROM_TO = (
    "--from {{ data_interval_start.strftime('%Y-%m-%dT%H:%M:%S') }} "
    "--to {{ data_interval_end.strftime('%Y-%m-%dT%H:%M:%S') }}"
)
TO = "--to {{ data_interval_end.strftime('%Y-%m-%dT%H:%M:%S') }}"
MODELS = "--models '{{ params.models }}'"
PATTERNS = "{% for name in params.patterns %} --patterns '{{ name }}'{% endfor %}"
LAYERS = "{% if params.layers %} --layers '{{ params.layers }}'{% endif %}"
PLACE = r"^[^']+$"

events_param = Param(f"{HOME}/events", type="string", pattern=PLACE, description="The folder of events.")
models_param = Param(f"{HOME}/models", type="string", pattern=PLACE, description="The model store: a folder or a URI.")
layers_param = Param(None, type=["null", "string"], pattern=PLACE, description="The layers file of families.")
patterns_param = Param(
    ["route"],
    type="array",
    items={"type": "string", "pattern": PLACE},
    minItems=1,
    description="Patterns of the built-in catalog by name, catalog files or folders.",
)
metric_param = Param("mcc", type="string", enum=["mcc", "f1", "roc_auc"], description="The score that is compared.")


def foresail(task_id: str, words: str, **more: Any) -> BashOperator:
    """A task that runs `foresail WORDS`."""
    return BashOperator(task_id=task_id, bash_command=f"{COMMAND} {words}", append_env=True, **more)
