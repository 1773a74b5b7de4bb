"""What `foresail configure` does before it sends: layers published anew, under a line that may be running."""

import json
from pathlib import Path

import geopandas as gpd
import pytest
import shapely
import yaml

from foresail.geo.worker import on_shelf
from foresail.pipeline.errors import InputError
from foresail.pipeline.progress import SILENT
from foresail.pipeline.settings import Settings
from foresail.pipeline.stream.control.configure import Order, _read_reply, control_message
from foresail.pipeline.stream.query.query import SHELF
from tests.pipeline.stream import lines


def settings_with(folder: Path, shapes: list[shapely.Geometry], kind: str = "zone") -> Settings:
    named = gpd.GeoDataFrame({"name": list("abc")[: len(shapes)]}, geometry=shapes, crs=4326)
    named.to_file(folder / "zones.geojson")
    layers = [{"name": "zones", "kind": kind, "file": "zones.geojson", "name_column": "name"}]
    (folder / "layers.yaml").write_text(yaml.safe_dump({"layers": layers}), encoding="utf-8")
    held = {"file": folder / "layers.yaml", "directory": folder / "cache"}
    return Settings.model_validate({"layers": held, "stream": {"checkpoint": folder / "checkpoint"}})


def test_layers_are_published_anew_and_every_bucket_notes_their_version(tmp_path: Path) -> None:
    said = []
    for shapes in ([shapely.box(0, 0, 1, 1)], [shapely.box(0, 0, 1, 1), shapely.box(4, 4, 5, 5)]):
        settings = settings_with(tmp_path, shapes)
        said.append(json.loads(control_message(settings, Order(reload_layers=True), SILENT)))
        (stored,) = on_shelf(tmp_path / "checkpoint" / SHELF)
        assert len(gpd.read_parquet(Path(stored.folder) / "features.parquet")) == len(shapes)
    assert said[0]["layers"] != said[1]["layers"]
    line = lines.Running(lines.spec_for(lines.some_patterns(), "layers"))
    line.read(lines.some_events(1, events=50), control=[json.dumps(said[1])])
    (reply,) = [json.loads(row["payload"]) for row in line.rows("ack")]
    assert reply["accepted"]
    assert line.saved is not None
    assert line.saved.configuration.layers == said[1]["layers"]


def test_layers_with_other_columns_are_not_published(tmp_path: Path) -> None:
    control_message(settings_with(tmp_path, [shapely.box(0, 0, 1, 1)]), Order(reload_layers=True), SILENT)
    with pytest.raises(InputError):
        control_message(settings_with(tmp_path, [shapely.box(0, 0, 1, 1)], "port"), Order(reload_layers=True), SILENT)


def test_a_line_without_layers_has_none_to_reload() -> None:
    with pytest.raises(InputError, match=r"layers\.file is not set"):
        control_message(Settings(), Order(reload_layers=True), SILENT)


@pytest.mark.parametrize("version", ["../../../../outside/x", "/any/path"])
def test_a_version_that_is_a_path_is_not_even_sent(version: str) -> None:
    with pytest.raises(InputError, match=r"^configure: model_version: not a name but a path"):
        control_message(Settings(), Order("stays", model_version=version), SILENT)


def test_what_others_write_to_the_topic_of_replies_is_no_reply() -> None:
    for value in (None, b"", b"[" * 100_000, b"\xff", b"[1]", b"3"):
        assert _read_reply(value) == {}
    assert _read_reply(b'{"id": "1"}') == {"id": "1"}


def test_rules_of_a_file_are_sent_as_their_text_and_a_line_of_patterns_refuses_them(tmp_path: Path) -> None:
    text = "define Alarm(area: string) from Smoke(area=$a) where area=$a"
    (tmp_path / "alarm.tesla").write_text(text, encoding="utf-8")
    said = control_message(Settings(), Order("alarms", rules=tmp_path / "alarm.tesla"), SILENT)
    assert json.loads(said)["rules"] == text
    line = lines.Running(lines.spec_for(lines.some_patterns(), "rules"))
    line.read(lines.some_events(1, events=5), control=[said])
    (reply,) = [json.loads(row["payload"]) for row in line.rows("ack")]
    assert (reply["accepted"], reply["reason"][:28]) == (False, "this line runs patterns and ")
