import pytest

from foresail.patterns.catalog import CatalogError, built_in_catalog, parse_override


def test_an_override_is_read_as_the_type_of_the_default() -> None:
    catalog = built_in_catalog(overrides={"trawling.max_speed_kn": "8", "anchored.max_speed_kn": "0.4"})
    assert catalog["trawling"].parameters == {"min_speed_kn": 1, "max_speed_kn": 8}
    assert catalog["anchored"].parameters["max_speed_kn"] == 0.4
    assert built_in_catalog()["trawling"].parameters["max_speed_kn"] == 9


def test_window_gap_and_dwell_can_be_set_and_taken_away() -> None:
    overrides = {"port_entry.window": "1h", "port_entry.max_gap": "never", "trawling_rtec.min_dwell": "2h"}
    catalog = built_in_catalog(overrides=overrides)
    assert catalog["port_entry"].window == "1h"
    assert catalog["port_entry"].spec().max_gap_us is None
    assert catalog["trawling_rtec"].spec().min_dwell_us == 7_200_000_000


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ({"trawlin.max_speed_kn": "8"}, "unknown pattern 'trawlin'. Did you mean 'trawling'?"),
        ({"trawling.max_sped_kn": "8"}, "no parameter 'max_sped_kn'. Did you mean 'max_speed_kn'?"),
        ({"trawling.max_speed_kn": "fast"}, "'fast' is not a number. Write one such as 9."),
        ({"trawling.max_speed_kn": "inf"}, "'inf' is not a number."),
        ({"trawling.max_gap": "0s"}, "'0s' is no time at all."),
        ({"port_entry.min_dwell": "1h"}, "only episodes have a dwell."),
    ],
)
def test_a_wrong_override_says_what_would_be_right(override: dict[str, str], said: str) -> None:
    with pytest.raises(CatalogError) as caught:
        built_in_catalog(overrides=override)
    assert said in str(caught.value)


def test_an_override_is_written_with_a_point_and_a_sign_of_equality() -> None:
    assert parse_override("trawling.max_speed_kn = 8") == ("trawling.max_speed_kn", "8")
    for text in ("trawling.max_speed_kn", "max_speed_kn=8", "trawling.max_speed_kn="):
        with pytest.raises(CatalogError, match="not an override"):
            parse_override(text)
