"""When rejected rows are worth a warning: shares, sentences, and what the file is said to look like."""

from pathlib import Path

from foresail.pipeline.quality.measure import looks_like, rejected_share, rejection_warning, table_warning
from tests.pipeline.look.samples import positions, written


def test_sound_rows_that_are_no_positions_do_not_count() -> None:
    assert rejected_share(1500, {"other_sentence": 1313, "not_a_position": 46}) == 0.0
    assert rejected_share(100, {"no_time": 30, "comment": 40}) == 0.5
    assert rejected_share(0, {}) == 0.0


def test_every_row_rejected_is_all_of_them_for_whatever_reason() -> None:
    assert rejected_share(10, {"other_sentence": 10}) == 1.0
    assert rejected_share(10, {"no_time": 4, "comment": 6}) == 1.0


def test_the_warning_says_how_many_why_and_what_the_file_is() -> None:
    said = rejection_warning(
        12, {"no_id": 1, "no_time": 9, "comment": 2}, {"no_time": "no time at all"}, "It is a log."
    )
    assert said == "12 of 12 rows were rejected: 9 no_time (no time at all); 2 comment. It is a log."


def test_a_file_is_told_by_its_look(tmp_path: Path) -> None:
    file = written(tmp_path, "a.csv", positions(sign=";", comma=True))
    said = looks_like(file, "noaa")
    assert said.startswith("a.csv is CSV cut by ';' into 5 columns with decimal commas.")
    assert f"`foresail look {file}`" in said
    assert "It looks like --from noaa" in looks_like(
        written(tmp_path, "b.csv", "MMSI,BaseDateTime,LAT,LON\n1,2,3,4\n"), "x"
    )
    assert "iconv" in looks_like(written(tmp_path, "c.csv", positions().encode("utf-16")))
    assert looks_like(tmp_path / "absent.csv") == ""
    assert "rejected.jsonl" in table_warning(9, 9, [str(file)], "out/rejected.jsonl")
