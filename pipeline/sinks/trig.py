"""Results as linked data: graphs that queries construct, and matches and positions in terms of SOSA and GeoSPARQL.

A graph is an event in the form that SPAseq reads: its time and its stream stand in the default graph.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.terms import quoted
from foresail.pipeline.sinks.output_folder import replaced

MATCHES, POSITIONS = "urn:foresail:matches", "urn:foresail:positions"
"""The streams of what is found, and of where vessels were."""
PREFIXES = {
    "prov": "http://www.w3.org/ns/prov#",
    "dcterms": "http://purl.org/dc/terms/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "fs": "urn:foresail:attribute:",
}
_HEAD = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEFT_OUT = ("lon", "lat", "track", "time")


def graphs_as_trig(events: Iterable[GraphEvent]) -> str:
    """Events as one document; blank nodes are named after what they belong to, and never shared."""
    parts = [_HEAD]
    for event in events:
        moment = _EPOCH + timedelta(microseconds=event.time_us)
        parts.append(_graph(f"{event.stream}/{event.time_us}", event.text, moment, event.stream))
    return "\n".join(parts)


def write_trig(out: Path) -> dict[str, str]:
    """The matches of a job's folder, and its positions where it has them, as observations; where they are."""
    _write(_match_graphs(_rows(out / "matches")), out / "matches.trig")
    if (out / "positions").is_dir():
        _write(_position_graphs(_rows(out / "positions")), out / "positions.trig")
    return {"trig": str(out / "matches.trig")}


def _write(graphs: Iterable[str], file: Path) -> None:
    with replaced(file) as staging, staging.open("w", encoding="utf-8") as out:
        out.write(_HEAD)
        out.writelines(graphs)


def _rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    for place in sorted(folder.rglob("*.parquet")):
        with pq.ParquetFile(place) as held:
            for batch in held.iter_batches():
                yield from batch.to_pylist()


def _match_graphs(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for row in rows:
        number = seen[row["match_id"]] = seen.get(row["match_id"], -1) + 1
        match = f"urn:foresail:match:{row['match_id']}"
        said = [
            f"<{match}> a sosa:Observation",
            f"sosa:observedProperty {_iri('urn:foresail:pattern:', row['pattern'])}",
            f"sosa:hasFeatureOfInterest {_iri('urn:foresail:track:', row['track'])}",
            f"sosa:resultTime {_time(row['time'])}",
        ]
        if row.get("start_time") is not None:
            said.append(f"prov:startedAtTime {_time(row['start_time'])}")
        said += [
            f"fs:{name} {_literal(row[name])}" for name in ("instance", "count", "status") if row.get(name) is not None
        ]
        body = " ;\n    ".join(said) + " ." + _place(row)
        name = match if not number else f"{match}/{number}"
        yield _graph(name, body, row["time"], MATCHES)


def _position_graphs(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        track = _iri("urn:foresail:track:", row["track"])
        said = [f"<urn:foresail:position:{number}> a sosa:Observation", f"sosa:hasFeatureOfInterest {track}"]
        said.append(f"sosa:resultTime {_time(row['time'])}")
        plain = {name: _literal(value) for name, value in row.items() if name not in _LEFT_OUT}
        said += [f"fs:{quote(name, safe='')} {term}" for name, term in plain.items() if term is not None]
        body = " ;\n    ".join(said) + " ." + _place(row)
        yield _graph(f"urn:foresail:position:{number}", body, row["time"], POSITIONS)


def _graph(name: str, body: str, moment: datetime, stream: str) -> str:
    inside = body.replace("\n", "\n  ")
    said = f"prov:generatedAtTime {_time(moment)} ; dcterms:isPartOf <{stream}>"
    return f"<{name}> {{\n  {inside}\n}}\n<{name}> {said} .\n"


def _place(row: Mapping[str, Any]) -> str:
    """Where the track was, as a point of GeoSPARQL."""
    lon, lat = row.get("lon"), row.get("lat")
    if lon is None or lat is None:
        return ""
    track = _iri("urn:foresail:track:", row["track"])
    return f'\n{track} geo:hasGeometry [ geo:asWKT "POINT({lon!r} {lat!r})"^^geo:wktLiteral ] .'


def _iri(before: str, name: object) -> str:
    return f"<{before}{quote(str(name), safe='')}>"


def _time(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f'"{aware.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"^^xsd:dateTime'


def _literal(value: Any) -> str | None:
    """A value of a column as a literal; None for what is none, such as a list."""
    match value:
        case bool():
            return f'"{str(value).lower()}"^^xsd:boolean'
        case int():
            return f'"{value}"^^xsd:integer'
        case float():
            return f'"{value!r}"^^xsd:double' if value == value else None  # noqa: PLR0124 - not NaN
        case str():
            return quoted(value)
        case datetime():
            return _time(value)
        case _:
            return None
