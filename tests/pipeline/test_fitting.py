"""A pattern that does not fit says what to do, and patterns that fail alike are told together."""

import pytest

from foresail.patterns.errors import Place, UnknownAttributeError
from foresail.pipeline.errors import InputError
from foresail.pipeline.fitting import OF_THE_STREAM, layer_kind_of, left_out_lines, unfit

KNOWN = ("distance_m", "lat", "lon", "speed_kn")


@pytest.mark.parametrize(
    ("attribute", "kind"),
    [
        ("in_fishing", "fishing"),
        ("port_distance_m", "port"),
        ("gas_station_name", "gas_station"),
        ("distance_m", None),
        ("speed_kn", None),
        ("name", None),
    ],
)
def test_attributes_of_layers_are_known_by_their_form(attribute: str, kind: str | None) -> None:
    assert layer_kind_of(attribute) == kind


def test_a_missing_layer_attribute_names_the_command_that_adds_it() -> None:
    told = unfit(UnknownAttributeError("port_distance_m", KNOWN, Place("anchored.yaml", 16, 13)))
    assert type(told) is InputError
    assert str(told) == (
        "anchored.yaml:16:13: unknown attribute 'port_distance_m': it comes from a layer of the kind 'port'. "
        "Run `foresail enrich` with a layer of that kind, and take what it writes."
    )


def test_other_faults_stay_as_they_are() -> None:
    for error in (UnknownAttributeError("sped_kn", KNOWN, "x:1:1"), InputError("x: reads pairs.")):
        assert unfit(error) is error


def test_a_line_for_each_reason_names_the_patterns() -> None:
    pairs = "{}: reads pairs of tracks, which this line does not make. Set stream.pairs_within_m, in metres."
    layer = [
        UnknownAttributeError("port_distance_m", KNOWN, Place(f"{n}.yaml", 1, 1)) for n in ("anchored", "port_visit")
    ]
    skipped = {
        "anchored": str(unfit(layer[0], OF_THE_STREAM)),
        "encounter": pairs.format("encounter"),
        "port_visit": str(unfit(layer[1], OF_THE_STREAM)),
        "tugging": pairs.format("tugging"),
        "idle": str(UnknownAttributeError("sped_kn", KNOWN, "idle.yaml:3:1")),
    }
    assert left_out_lines(skipped) == [
        "anchored, port_visit (it comes from a layer of the kind 'port'. "
        "Name a layer of that kind in the file of layers.file)",
        "encounter, tugging (reads pairs of tracks, which this line does not make. "
        "Set stream.pairs_within_m, in metres)",
        "idle (unknown attribute 'sped_kn')",
    ]
