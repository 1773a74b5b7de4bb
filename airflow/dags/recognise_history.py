"""When the catalog changes: the matches of all that was recorded, by the patterns as they are now."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, Asset, Param
from foresail_command import (
    DEFAULTS,
    EVENTS,
    HOME,
    LAYERS,
    PATTERNS,
    SPARK_POOL,
    TAGS,
    events_param,
    foresail,
    layers_param,
    option,
    patterns_param,
)

with DAG(
    "recognise_history",
    schedule=[Asset("foresail_catalog")],
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=[*TAGS, "matches"],
    params={
        "events": events_param,
        "patterns": patterns_param,
        "layers": layers_param,
        "matches": Param(f"{HOME}/matches", type="string", description="The folder of matches."),
    },
    doc_md="""
### Matches of the past, by the catalog of today
Runs when the asset `foresail_catalog` is updated (deploying a new version of a pattern should do that), or by hand. A
pattern may reach over midnight, so the whole record is read in one run; its result replaces that of the run before.
""",
):
    recognise = foresail(
        "recognise",
        *("recognise", EVENTS, PATTERNS, LAYERS, option("out", "matches"), "--json"),
        pool=SPARK_POOL,
        execution_timeout=timedelta(hours=6),
        doc_md="Matches and episodes of every pattern.",
    )
