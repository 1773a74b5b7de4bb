"""The plan of a live line: how often an event visits Python, what has state, and what the settings say of both."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foresail.pipeline.conditions.spark import attribute_types
from foresail.pipeline.errors import InputError
from foresail.pipeline.schemas import DERIVED_COLUMNS
from foresail.pipeline.settings import Settings
from foresail.pipeline.stages.policy import Policy
from foresail.pipeline.stream.query.job import check_operators
from tests.pipeline.stream.meetings import write_layers
from tests.pipeline.stream.recorded import CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.stream.query.query import LiveLine

IN_PYTHON = ("MapInArrow", "MapInPandas", "TransformWithState", "FlatMapGroupsInPandas", "ArrowEvalPython", "BatchEval")
CARRIED = {"distance_m": "double", "change_in_heading": "boolean"}
STATEFUL = ("TransformWithState", "FlatMapGroupsInPandasWithState")


def settings(folder: Path, layers: bool = False, **stream: Any) -> Settings:
    (folder / "patterns.yaml").write_text(CATALOG, encoding="utf-8")
    values = {"patterns": [str(folder / "patterns.yaml")], "checkpoint": folder / "checkpoint", "buckets": 2, **stream}
    held = {"kafka": {"bootstrap_servers": "127.0.0.1:1"}, "stream": values}
    if layers:
        held["layers"] = {"file": write_layers(folder), "directory": folder / "layers"}
    return Settings.model_validate(held)


def line(spark: "SparkSession", chosen: Settings) -> "LiveLine":
    from foresail.pipeline.stream.query.query import live_line

    return live_line(spark, chosen, Policy())


def paths(node: Any) -> list[list[str]]:
    """The names of the nodes of a plan from each of its sources to its end."""
    children = node.children()
    below = [path for n in range(children.size()) for path in paths(children.apply(n))]
    return [[*path, node.nodeName()] for path in below or [[]]]


def plan_of(found: "LiveLine") -> Any:
    """The plan as Spark optimises it: what calls Python has nodes of its own then."""
    frame = found.findings._jdf
    return frame.sparkSession().sessionState().optimizer().execute(frame.queryExecution().analyzed())


def visits(path: list[str]) -> list[str]:
    return [name for name in path if name.startswith(IN_PYTHON)]


@pytest.mark.spark
def test_an_event_visits_python_twice_where_no_layer_is_joined(spark: "SparkSession", tmp_path: Path) -> None:
    for derive in (True, False):
        found = line(spark, settings(tmp_path, derive=derive, columns={} if derive else CARRIED))
        most = max((visits(path) for path in paths(plan_of(found))), key=len)
        assert [name[:14] for name in most] == ["MapInArrow", "TransformWithS"], derive
        assert found.stateful_operators == 1


@pytest.mark.spark
@pytest.mark.parametrize("more", [{}, {"layers": True}, {"layers": True, "derive": False, "columns": CARRIED}])
def test_stateful_operators_are_as_many_as_the_line_says(
    spark: "SparkSession", tmp_path: Path, more: dict[str, Any]
) -> None:
    for pairs in ({}, {"pairs_within_m": 500, "patterns": [str(tmp_path / "patterns.yaml"), "tugging"]}):
        found = line(spark, settings(tmp_path, **more, **pairs))
        whole = str(found.findings._jdf.queryExecution().analyzed().toString())
        assert sum(whole.count(name) for name in STATEFUL) == found.stateful_operators


@pytest.mark.spark
@pytest.mark.parametrize("feed", ["kafka_json", "danish"])
def test_the_settings_tell_the_attributes_that_the_query_has(spark: "SparkSession", tmp_path: Path, feed: str) -> None:
    from foresail.pipeline.stream.query.query import QueryParts
    from foresail.pipeline.stream.query.source import read_messages

    chosen = settings(tmp_path, feed=feed, columns={"depth_m": "double", "crew": "long", "flag": "string"})
    known = QueryParts(spark, chosen, Policy(), [0, 1], {}, None).known()["positions"]
    built = attribute_types(read_messages(spark, chosen, Policy()).schema)
    about = ("source", "line", "raw", "repairs", "reason", "arrived")
    assert {name: kind for name, kind in built.items() if name not in about}.items() <= known.items()
    assert set(known) - set(built) == {*DERIVED_COLUMNS, "offset"}


def test_a_checkpoint_with_other_stateful_operators_is_refused_with_the_way_out(tmp_path: Path) -> None:
    check_operators(tmp_path / "none", 1)
    for name in ("state/0", "state/1", "commits"):
        (tmp_path / name).mkdir(parents=True)
    check_operators(tmp_path, 1)  # nothing was committed: what is there is of a start that failed
    (tmp_path / "commits" / "0").touch()
    check_operators(tmp_path, 2)
    with pytest.raises(InputError, match=r"state of 2 stateful operators, and this line has 1.* Name a new folder"):
        check_operators(tmp_path, 1)
