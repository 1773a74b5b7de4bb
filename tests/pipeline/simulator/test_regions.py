"""The layers beside a simulation are valid GeoJSON that names real ports and calls the rest simulated."""

import json

import pytest
import shapely
import yaml


@pytest.fixture(params=["vessels", "vehicles"])
def folder(request, tmp_path):
    request.getfixturevalue(request.param).scenario.write_layers(tmp_path)
    return tmp_path


def test_every_layer_of_the_index_is_a_file_of_valid_features(folder) -> None:
    index = yaml.safe_load((folder / "layers.yaml").read_text())["layers"]
    assert {layer["file"] for layer in index} | {"layers.yaml"} == {file.name for file in folder.iterdir()}
    for layer in index:
        features = json.loads((folder / layer["file"]).read_text(encoding="utf-8"))["features"]
        assert features
        for feature in features:
            geometry = shapely.geometry.shape(feature["geometry"])
            assert geometry.is_valid
            assert feature["properties"][layer["name_column"]]


def test_only_ports_are_called_by_real_names(vessels, tmp_path) -> None:
    vessels.scenario.write_layers(tmp_path)
    for file in tmp_path.glob("*.geojson"):
        names = [f["properties"]["name"] for f in json.loads(file.read_text(encoding="utf-8"))["features"]]
        assert all(("simulated" in name) != (file.name == "ports.geojson") for name in names)
    assert "Brest" in (tmp_path / "ports.geojson").read_text(encoding="utf-8")


def test_weather_cells_have_a_time_they_are_valid_for(vehicles, tmp_path) -> None:
    vehicles.scenario.write_layers(tmp_path)
    cells = json.loads((tmp_path / "weather.geojson").read_text())["features"]
    assert {cell["properties"]["ice"] for cell in cells} == {True, False}
    assert all(cell["properties"]["valid_from"] < cell["properties"]["valid_to"] for cell in cells)
