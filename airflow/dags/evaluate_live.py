"""Daily: how the champions did yesterday; a model that has become worse is learned anew, with a wider search."""

from datetime import UTC, datetime

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, Param
from foresail_command import DEFAULTS, MODELS, PATTERNS, TAGS, TO, TRAINING, foresail, moment_of, option

with DAG(
    "evaluate_live",
    schedule=CronDataIntervalTimetable("0 2 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=[*TAGS, "models"],
    user_defined_macros={"moment": moment_of},
    render_template_as_native_obj=True,  # what is handed on keeps its type: a budget is a number, patterns are a list
    params={
        **TRAINING,
        "tolerance": Param(0.1, type="number", minimum=0, description="A score lower by more than this has degraded."),
        "budget": Param(40, type="integer", minimum=1, maximum=200, description="Settings the retraining tries."),
    },
    doc_md="""
### How yesterday's forecasts did
Forecasts follow from the model and the events, so each champion is scored on the held-out tracks of the newest day
that was counted, next to its score when it was judged first. If one is lower by more than `tolerance`, `train_models`
is run with a wider search, for the same day and with the same parameters; otherwise that task is skipped.
""",
):
    live = foresail(
        "live",
        *("models", "live", PATTERNS, MODELS, TO, option("tolerance"), option("metric"), "--exit-code", "--json"),
        doc_md="Skipped when all is well.",
    )
    retrain = TriggerDagRunOperator(
        task_id="retrain",
        trigger_dag_id="train_models",
        conf={name: f"{{{{ params.{name} }}}}" for name in TRAINING},
        # its own hour, not midnight: that is the date of a run on schedule, and there is one run for each date
        logical_date="{{ moment(dag_run).isoformat() }}",
        reset_dag_run=True,
        doc_md="A run of train_models with a wider search.",
    )
    live >> retrain
