"""A task is one `foresail` command: what the tasks of all schedules have in common."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.sdk import BaseOperator, Param
from airflow.sdk.exceptions import AirflowException, AirflowSkipException
from airflow.sdk.execution_time.context import context_to_airflow_vars

HOME = os.environ.get("AIRFLOW_FORESAIL_HOME", "/srv/foresail")
"""Where feeds, events, models and matches lie unless a run's parameters say otherwise."""
COMMAND = os.environ.get("AIRFLOW_FORESAIL_COMMAND", "foresail")
"""One program, by its name or its path: what stands here is never split, so the path may have spaces."""
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
NOTHING_TO_DO = 99
"""The exit code of `--exit-code` for a command that found nothing to do: its task is skipped."""

events_param = Param(f"{HOME}/events", type="string", description="The folder of events.")
layers_param = Param(None, type=["null", "string"], description="The layers file of families.")
patterns_param = Param(
    ["route"],
    type="array",
    items={"type": "string"},
    minItems=1,
    description="Patterns of the built-in catalog by name, catalog files or folders.",
)
TRAINING = {
    "events": events_param,
    "models": Param(f"{HOME}/models", type="string", description="The model store: a folder or a URI."),
    "patterns": patterns_param,
    "layers": layers_param,
    "margin": Param(0.01, type="number", minimum=0, description="By how much a challenger must be better."),
    "metric": Param("mcc", type="string", enum=["mcc", "f1", "roc_auc"], description="The score that is compared."),
    "budget": Param(12, type="integer", minimum=1, maximum=200, description="Settings that are tried per pattern."),
    "half_life_days": Param(None, type=["null", "number"], exclusiveMinimum=0, description="Old counts fade."),
    "stream_settings": Param(None, type=["null", "string"], description="The settings file of the stream to tell."),
}
"""What a run of `train_models` can be told; `evaluate_live` hands it on."""


@dataclass(frozen=True)
class Words:
    """Words of a command that a run decides, each of them one argument whatever is written in it."""

    of: Callable[[Mapping[str, Any]], Sequence[str]]

    def resolve(self, context: Mapping[str, Any]) -> list[str]:
        """The words of this run; Airflow asks when it renders the task."""
        return list(self.of(context))


def option(name: str, param: str | None = None) -> Words:
    """`--name=VALUE` by the run's parameter of that name (or `param`); nothing where it is null.

    One word, so that a value that begins with a dash is no option of its own.
    """
    key = param or name.replace("-", "_")

    def words(context: Mapping[str, Any]) -> Sequence[str]:
        value = context["params"][key]
        return () if value is None else (f"--{name}={value}",)

    return Words(words)


def interval_option(name: str, end: int) -> Words:
    """`--name=TIME`: from when (0) or until when (1) the run looks."""

    def words(context: Mapping[str, Any]) -> Sequence[str]:
        return (f"--{name}={interval_of(context['dag_run'], context.get('triggering_asset_events'))[end]}",)

    return Words(words)


PATTERNS = Words(lambda context: [f"--patterns={name}" for name in context["params"]["patterns"]])
MODELS, LAYERS, EVENTS = option("models"), option("layers"), option("events")
FROM, TO = interval_option("from", 0), interval_option("to", 1)


class ForesailOperator(BaseOperator):
    """Runs `foresail` with a list of arguments: no shell reads them, so nothing that a parameter says is a command."""

    template_fields = ("arguments",)
    ui_color = "#dbe9f4"

    def __init__(
        self, *, arguments: Sequence[Any], output_processor: Callable[[str], Any] = lambda line: line, **more: Any
    ) -> None:
        super().__init__(**more)
        self.arguments = list(arguments)
        self.output_processor = output_processor
        self._hook = SubprocessHook()

    def execute(self, context: Any) -> Any:
        """What the last line of the command says."""
        known = context_to_airflow_vars(context, in_env_var_format=True)
        done = self._hook.run_command([COMMAND, *flat(self.arguments)], env=os.environ | known)
        if done.exit_code == NOTHING_TO_DO:
            msg = "The command found nothing to do. Skipping."
            raise AirflowSkipException(msg)
        if done.exit_code != 0:
            msg = f"The command failed with exit code {done.exit_code}; its last words: {done.output}"
            raise AirflowException(msg)
        return self.output_processor(done.output)

    def on_kill(self) -> None:
        """Stop the command with the task."""
        self._hook.send_sigterm()


def foresail(task_id: str, *arguments: Any, **more: Any) -> ForesailOperator:
    """A task that runs `foresail ARGUMENTS`: texts, `Words` and what other tasks return."""
    return ForesailOperator(task_id=task_id, arguments=arguments, **more)


def flat(arguments: Iterable[Any]) -> list[str]:
    """Rendered arguments as one list of words."""
    words: list[str] = []
    for argument in arguments:
        words += argument if isinstance(argument, list) else [str(argument)]
    return words


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
