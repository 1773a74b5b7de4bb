"""The page of a recognition run tells what was found, and its data agrees with the matches."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from foresail.pipeline.reports.recognition import read_recognition, recognition_page, write_recognition_report
from foresail.pipeline.reports.spark_reading import SparkReading
from tests.pipeline.reports.conftest import EVIL, World

pytestmark = pytest.mark.spark

VOID = {"br", "circle", "input", "line", "meta", "path", "polyline", "rect", "use"}


class Elements(HTMLParser):
    """Every element with its attributes; complains where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def ids(self) -> list[str]:
        return [held["id"] for _, held in self.seen if held.get("id")]  # type: ignore[misc]


@pytest.fixture(scope="module")
def text(spark: SparkSession, world: World, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("page")
    file = write_recognition_report(SparkReading(spark, world.matches, world.events), world.catalog, world.layers, out)
    assert file == out / "report.html"
    return file.read_text(encoding="utf-8")


def map_data(text: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', text)
    assert found is not None
    held: dict[str, list[dict[str, object]]] = json.loads(found.group(1))
    return held


def test_the_page_is_well_formed_and_no_id_stands_twice(text: str) -> None:
    page = Elements(text)
    assert page.open == []
    assert len(page.ids()) == len(set(page.ids()))
    for _, held in page.seen:
        link = held.get("href") or ""
        assert not link.startswith("#") or link[1:] in page.ids()


def test_names_from_the_data_stay_text(text: str) -> None:
    page = Elements(text)
    assert EVIL not in text.replace("&lt;", "")
    assert "img" not in {tag for tag, _ in page.seen}
    assert EVIL in page.text, "the name is shown nevertheless"


def test_the_map_marks_every_match_where_it_was_detected(text: str, world: World) -> None:
    ids = set(pq.read_table(world.matches)["match_id"].to_pylist())
    groups = {group["key"]: group for group in map_data(text)["groups"]}
    marks = [mark for group in groups.values() for mark in group["marks"]]  # type: ignore[attr-defined]
    assert len(marks) == len(ids) == world.summary["matches_by_pattern"]["entry"] + 2
    (first, _) = groups["entry"]["marks"]  # type: ignore[misc]
    assert abs(first["lon"]) <= 0.08, "the first position within 5 km of the port"


def test_tracks_and_layers_are_drawn(text: str) -> None:
    data = map_data(text)
    assert len(data["tracks"]) == 2
    assert [layer["key"] for layer in data["layers"]] == ["layer:ports"]


def test_each_pattern_has_its_sentence_its_automaton_and_its_number(text: str) -> None:
    page = Elements(text)
    assert "A vessel outside is seen inside <the port>." in page.text
    assert 'id="pattern-entry"' in text
    told = text.count('<div class="why">')
    assert told == 2
    assert text.count('<div class="automaton"') == 3 + told
    assert "Looked for and not found: never." in page.text


def test_a_pattern_that_was_not_found_says_why(text: str) -> None:
    page = Elements(text)
    assert 'id="pattern-never"' in text
    assert "80 events were looked at. The condition flies never held. Nothing of it was ever under way." in page.text


def test_tracks_are_listed_with_what_was_found_on_them_and_can_be_looked_for(text: str) -> None:
    page = Elements(text)
    assert "Something was found on 2 of 2 tracks." in page.text
    assert "entry 1, fast 1" in page.text
    rows = [held for tag, held in page.seen if tag == "tr" and "data-track" in held]
    assert [held["data-track"] for held in rows] == [f"{EVIL} (a)", f"{EVIL} (b)"]
    assert any("data-search" in held for _, held in page.seen)


def test_a_match_is_shown_from_its_first_start_where_rows_have_it(spark: SparkSession, world: World) -> None:
    rows = spark.read.parquet(str(world.matches)).where("pattern = 'fast'")
    earlier = rows.withColumn("first_start_time", F.expr("start_time - INTERVAL 2 MINUTES"))
    folder = Path(world.request.out).parent / "first_start"
    earlier.write.mode("overwrite").parquet(str(folder))
    read = read_recognition(SparkReading(spark, folder, world.events), world.catalog, world.layers)
    starts = {row[0] for row in rows.groupBy("match_id").agg(F.min("start_time")).select("min(start_time)").collect()}
    assert {match.start for match in read.listed} == {start - timedelta(minutes=2) for start in starts}


def test_land_lies_under_the_map_and_its_source_is_named(text: str) -> None:
    assert len(map_data(text)["land"]) > 100
    assert "Natural Earth" in text


def test_the_events_of_a_match_show_what_held_on_them(text: str) -> None:
    start = text.index('id="pattern-entry"')
    entry = text[start : text.index('id="pattern-fast"') if text.index('id="pattern-fast"') > start else None]
    assert re.findall(r'<span class="chip">(\w+)</span>', entry)[:2] == ["outside", "inside"]
    assert "port distance (m)" in entry
    assert "… 18 events …" in text


def test_a_long_match_shows_its_ends_and_says_how_many_are_between(spark: SparkSession, world: World) -> None:
    read = read_recognition(SparkReading(spark, world.matches, world.events), world.catalog, world.layers)
    episode = next(match for match in read.listed if match.pattern == "fast")
    assert read.events[episode.match_id].total == 28
    assert [row.number for row in read.events[episode.match_id].rows] == [1, 2, 3, 4, 5, 24, 25, 26, 27, 28]
    assert all(row.holds == ("hurries",) for row in read.events[episode.match_id].rows)


def test_events_without_positions_have_a_page_without_a_map(spark: SparkSession, world: World) -> None:
    catalog = type(world.catalog)((world.catalog["fast"],))
    plain = world.events.drop("lon", "lat", "name")
    rows = spark.read.parquet(str(world.matches)).where("pattern = 'fast'")
    folder = Path(world.request.out).parent / "plain"
    rows.drop("lon", "lat").write.parquet(str(folder))
    page = recognition_page(read_recognition(SparkReading(spark, folder, plain), catalog, ()))
    assert page.data == {}
    assert "there is no map" in page.sections[0].body


def test_without_matches_the_page_says_so(spark: SparkSession, world: World, tmp_path: Path) -> None:
    spark.read.parquet(str(world.matches)).where("false").write.parquet(str(tmp_path / "none"))
    page = recognition_page(
        read_recognition(SparkReading(spark, tmp_path / "none", world.events), world.catalog, world.layers)
    )
    assert "None of the 3 patterns looked for was found." in page.lead
