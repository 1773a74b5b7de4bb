"""Features made fit for use, and every way in which they are not."""

from pathlib import Path

import geopandas as gpd
import numpy as np
import pytest
import shapely

from foresail.geo.errors import GeoError, GeometryError, LayerReadError, ReferenceSystemError
from foresail.geo.layers.check import check_features
from foresail.geo.layers.spec import LayerSpec

BOWTIE = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
SQUARE = shapely.box(0, 0, 1, 1)


def spec_of(file: str = "zones.gpkg", **more: object) -> LayerSpec:
    return LayerSpec(name="zones", kind="zone", file=Path(file), **more)


def table(shapes: list, crs: str | None = "EPSG:4326", **columns: list) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({"name": [f"Z{row}" for row in range(len(shapes))], **columns}, geometry=shapes, crs=crs)


def refusal(raw: gpd.GeoDataFrame, spec: LayerSpec, kind: type[GeoError]) -> str:
    with pytest.raises(kind) as fault:
        check_features(raw, spec)
    assert str(fault.value).startswith("layer 'zones' (")
    return str(fault.value)


def test_a_layer_without_a_reference_system_is_refused() -> None:
    assert "does not say its coordinate reference system" in refusal(
        table([SQUARE], None), spec_of(), ReferenceSystemError
    )


def test_the_declaration_may_say_the_reference_system() -> None:
    features, report = check_features(table([SQUARE], None), spec_of(crs="EPSG:4326"))
    assert shapely.equals(features.geometry[0], SQUARE)
    assert report.reference_system == "EPSG:4326"


def test_an_unknown_reference_system_is_named() -> None:
    assert "unknown crs 'EPSG:0'" in refusal(table([SQUARE], None), spec_of(crs="EPSG:0"), ReferenceSystemError)


def test_a_file_and_a_declaration_that_disagree_are_refused() -> None:
    said = refusal(table([SQUARE], "EPSG:3035"), spec_of(crs="EPSG:4326"), ReferenceSystemError)
    assert "the file says EPSG:3035, the layers file says EPSG:4326" in said


def test_metres_become_degrees() -> None:
    metres = gpd.GeoSeries([shapely.Point(-4.5, 48.4)], crs="EPSG:4326").to_crs("EPSG:3035")
    features, _ = check_features(table(list(metres), "EPSG:3035"), spec_of())
    assert abs(features.geometry.x[0] + 4.5) < 1e-8
    assert abs(features.geometry.y[0] - 48.4) < 1e-8


def test_degrees_called_metres_are_refused() -> None:
    said = refusal(table([SQUARE], "EPSG:3857"), spec_of(), ReferenceSystemError)
    assert "EPSG:3857 is in metres, but every coordinate is a degree" in said


def test_metres_called_degrees_are_refused() -> None:
    said = refusal(table([shapely.box(3e6, 2e6, 3.1e6, 2.1e6)]), spec_of(), GeometryError)
    assert "feature 'Z0'" in said
    assert "look like metres" in said


def test_swapped_longitude_and_latitude_are_suspected() -> None:
    swapped = [shapely.Point(48.4, -104.5), shapely.Point(51.9, 104.1)]
    said = refusal(table(swapped), spec_of("ports.csv"), GeometryError)
    assert "feature 'Z0' (and 1 more features)" in said
    assert "look swapped" in said
    assert "lon_column" in said


def test_one_point_among_many_that_is_not_on_earth_is_left_out_and_told() -> None:
    points = [shapely.Point(lon, 10) for lon in np.linspace(-10, 10, 200)] + [shapely.Point(1001, 11)]
    features, report = check_features(table(points), spec_of())
    assert len(features) == 200
    assert report.off_earth == 1
    assert report.remarks == ("left out Z200: lon 1001, lat 11 is not on earth",)
    assert "Z200" in refusal(table(points), spec_of(invalid="refuse"), GeometryError)


def test_empty_geometries_are_dropped_and_counted() -> None:
    features, report = check_features(table([SQUARE, None, shapely.Polygon()]), spec_of())
    assert (len(features), report.features, report.empty) == (1, 1, 2)


def test_a_layer_of_nothing_but_empty_geometries_is_refused() -> None:
    assert "every one of its 2 features" in refusal(table([None, shapely.Polygon()]), spec_of(), LayerReadError)


def test_a_self_crossing_polygon_is_repaired_and_told() -> None:
    features, report = check_features(table([SQUARE, BOWTIE]), spec_of())
    assert features.geometry.is_valid.all()
    assert features.geometry[1].area == 2.0
    assert report.repaired == 1
    assert report.remarks[0].startswith("repaired Z1: Self-intersection")


def test_a_self_crossing_polygon_is_refused_by_name_when_asked() -> None:
    assert "Z1: Self-intersection" in refusal(table([SQUARE, BOWTIE]), spec_of(invalid="refuse"), GeometryError)


def test_a_polygon_of_which_nothing_is_left_is_refused_by_name() -> None:
    flat = shapely.Polygon([(0, 0), (1, 1), (2, 2), (0, 0)])
    assert "feature 'Z0' is invalid and nothing is left" in refusal(table([flat]), spec_of(), GeometryError)


def test_a_coordinate_that_is_no_number_is_refused_by_name() -> None:
    assert "feature 'Z0'" in refusal(table([shapely.LineString([(0, 0), (np.inf, 1)])]), spec_of(), GeometryError)


def test_names_come_from_the_column_or_the_kind() -> None:
    raw = table([SQUARE, SQUARE, SQUARE], label=["x", None, " "]).drop(columns="name")
    assert list(check_features(raw, spec_of())[0]["name"]) == ["x", "zone 2", "zone 3"]
    assert "Did you mean 'label'?" in refusal(raw, spec_of(name_column="lable"), LayerReadError)


def test_each_feature_may_have_its_own_radius() -> None:
    raw = table([SQUARE, SQUARE], reach=["100", "2500.5"])
    assert list(check_features(raw, spec_of(radius_column="reach"))[0]["radius_m"]) == [100.0, 2500.5]
    bad = table([SQUARE, SQUARE], reach=["100", "-3"])
    assert "feature 'Z1' has the radius '-3'" in refusal(bad, spec_of(radius_column="reach"), GeometryError)


def test_heights_are_dropped() -> None:
    features, _ = check_features(table([shapely.Point(1, 2, 3)]), spec_of())
    assert not features.geometry.has_z.any()


def test_a_position_beyond_the_pole_is_not_called_swapped_where_another_lies_far_in_the_east() -> None:
    said = refusal(table([shapely.Point(5.0, 100.0), shapely.Point(170.0, 10.0)]), spec_of(), GeometryError)
    assert "Mend or remove the feature" in said


def test_one_time_among_many_that_cannot_be_read_is_refused_by_name() -> None:
    times = {"begins": ["2026-01-01T00:00:00Z", "soon"], "ends": ["2026-01-02", "2026-01-02"]}
    spec = spec_of(valid_from="begins", valid_to="ends")
    said = refusal(table([SQUARE, SQUARE], **times), spec, GeometryError)
    assert "has the begins 'soon'. Write ISO 8601" in said
