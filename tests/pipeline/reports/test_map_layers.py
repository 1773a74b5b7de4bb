"""Layers are drawn as far as they lie near the tracks, and as fine as a screen can show."""

from pathlib import Path

import pytest
import shapely

from foresail.geo import Layer, read_layers
from foresail.pipeline.reports import map_layers as module
from foresail.pipeline.reports.map_layers import map_layers

BOX = (0.0, 50.0, 10.0, 60.0)


def layers(folder: Path, shapes: list[shapely.Geometry]) -> tuple[Layer, ...]:
    (folder / "zones.wkt").write_text("".join(f"zone {n};{shape.wkt}\n" for n, shape in enumerate(shapes)))
    (folder / "layers.yaml").write_text(
        "layers: [{name: zones, kind: zone, file: zones.wkt, name_column: name, crs: 'EPSG:4326'}]"
    )
    return read_layers(folder / "layers.yaml", folder / "cache")


def test_points_lines_and_areas_keep_their_kind_and_name(tmp_path: Path) -> None:
    shapes = [shapely.Point(1, 51), shapely.LineString([(1, 51), (2, 52)]), shapely.box(3, 53, 4, 54)]
    ((drawn,), left_out) = map_layers(layers(tmp_path, shapes), BOX)
    assert [(shape.kind, shape.name) for shape in drawn.shapes] == [
        ("point", "zone 0"),
        ("line", "zone 1"),
        ("polygon", "zone 2"),
    ]
    assert left_out == ()


def test_what_lies_far_away_is_not_drawn(tmp_path: Path) -> None:
    ((drawn,), _) = map_layers(layers(tmp_path, [shapely.Point(1, 51), shapely.Point(100, 0)]), BOX)
    assert len(drawn.shapes) == 1


def test_a_fine_shore_loses_the_points_that_no_screen_shows(tmp_path: Path) -> None:
    circle = shapely.Point(5, 55).buffer(2, quad_segs=5000)
    ((drawn,), _) = map_layers(layers(tmp_path, [circle]), BOX)
    assert 20 < len(drawn.shapes[0].rings[0]) < 500


def test_the_largest_features_are_drawn_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SHAPES", 2)
    squares = [shapely.box(n, 51, n + 0.1 * (n + 1), 51.5) for n in range(4)]
    ((drawn,), left_out) = map_layers(layers(tmp_path, squares), BOX)
    assert [shape.name for shape in drawn.shapes] == ["zone 2", "zone 3"]
    assert left_out == ("Of the layer zones the 2 largest features are drawn, 2 are not.",)
