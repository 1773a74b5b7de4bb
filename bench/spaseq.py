"""SPAseq's six published queries over generated data of their shapes: events per core-second, over graphs and columns.

    .venv/bin/python -m bench.spaseq [--events N] [--rows N] [--out bench/results]

Seconds are processor time of one process, from texts of graphs (or an Arrow table) in memory to results. Q2 and Q5 are
mended as docs/spaseq.md says. Each query is also measured with longer windows and longer sequences, and Q6 with
knowledge of 10 thousand to 1 million triples, whose reading is told apart.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from foresail.patterns.errors import Place
from foresail.patterns.spaseq.entry import SpaseqEntry
from foresail.patterns.spaseq.events import GraphEvent
from foresail.patterns.spaseq.knowledge import Knowledge, KnowledgeText
from foresail.patterns.spaseq.machine import Machine
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.plan import compile_query
from foresail.pipeline.catalogs import catalog_named
from foresail.pipeline.languages.spaseq.answering import Events, answer
from foresail.pipeline.local.frames import ArrowFrame

PREFIXES = "PREFIX : <http://ex/>\nPREFIX pred: <http://example/>\n"
DB = "http://harbour.org/db"
BOATS, STOCKS, CARDS = "http://harbour.org/boats", "http://stockmarket.org/stocks/google", "http://creditCard.org/boats"
GRID = [f"http://smartgrid.org/{name}" for name in ("mainSource", "weather", "storageSource")]
ROADS = [f"http://traffic.org/AarhusTrafficData{number}" for number in (182955, 195578, 195446)]
PRICES = (
    "", "?p2 > ?p1", "?p3 < ?p2 && ?p3 > ?p1", "?p4 > ?p2", "?p5 < ?p4 && ?p5 > ?p3", "?p6 > ?p5 && ?p6 < ?p4",
    "?p7 < ?p6 && ?p7 > ?p5",
)  # fmt: skip
STEP_US = 1_000_000
SEED = 1


@dataclass(frozen=True)
class Row:
    """One measurement."""

    query: str
    path: str
    varied: str
    events: int
    results: int
    seconds: float
    events_per_second: float


def asking(seq: str, within: str, gpms: Sequence[tuple[str, str, str]], by: str = "") -> str:
    """The text of a query; a graph pattern is its name, the IRI of its stream and its body."""
    streams = list(dict.fromkeys(iri for _, iri, _ in gpms))
    declared = "\n".join(f"FROM STREAM S{n} <{iri}>" for n, iri in enumerate(streams))
    defined = "\n".join(f"DEFINE GPM {name} ON S{streams.index(iri)} {{ {body} }}" for name, iri, body in gpms)
    return f"{PREFIXES}SELECT * WITHIN {within}{by}\n{declared}\nWHERE {{ SEQ({seq})\n{defined} }}"


def stocks(length: int, within: str = "60 MINUTES") -> str:
    """Q3 with seven parts, Q4 with three; longer ones ask for ever higher prices."""
    gpms = []
    for n in range(length):
        test = PRICES[n] if length <= len(PRICES) else f"?p{n + 1} > ?p{n}" if n else ""
        if length == 3 and n == 2:
            test = "?p3 < ?p2"
        held = f" FILTER({test})" if test else ""
        gpms.append((f"G{n}", STOCKS, f"?company pred:price ?p{n + 1} ; pred:volume ?vol{n + 1}{held}"))
    return asking(", ".join(name for name, _, _ in gpms), within, gpms)


def boats(knowledge: bool = True, within: str = "30 MINUTES", by: str = "") -> str:
    """Q6."""
    known = f" GRAPH <{DB}> {{ ?vessel :name ?n ; :operatedBy ?company . ?company :cname ?cname }}" if knowledge else ""
    gpms = [
        ("A", BOATS, '?vessel pred:speed ?s1 ; pred:location "harbour" ; pred:direction ?dir1 FILTER(?s1 > 0)'),
        ("B", BOATS, "?vessel pred:speed ?s2 ; pred:location ?l ; pred:direction ?dir1 FILTER(?s2 > ?s1)"),
        ("C", BOATS, f'?vessel pred:speed 0 ; pred:location "fishingarea" ; pred:direction ?dir3{known}'),
    ]
    return asking("A, B+, C", within, gpms, by)


QUERIES = {
    "Q1": asking("A; B+, C", "30 MINUTES", [
        ("A", GRID[0], '?house :loc ?l ; :pow ?a . ?a :source "fuel" ; :fare ?fr1 FILTER(?fr1 > 20)'),
        ("B", GRID[1], "?wther :loc ?l ; :value ?b . ?b :light ?lt ; :windsp ?sp FILTER(?sp > 3 && ?lt > 40)"),
        ("C", GRID[2], '?storage :loc ?l ; :pow ?c . ?c :source "solar" ; :fare ?fr2 FILTER(?fr2 < ?fr1)'),
    ]),
    "Q2": asking("A, B+", "30 MINUTES", [
        ("A", CARDS, "?card pred:id ?id1 ; pred:amount ?amount1 ; pred:loc ?loc FILTER(?amount1 > 0)"),
        ("B", CARDS, "?card pred:id ?id1 ; pred:amount ?amount2 FILTER(?amount2 >= ?amount1 * 10)"),
    ]),
    "Q3": stocks(7),
    "Q4": stocks(3),
    "Q5": asking("A; (B & C)", "30 MINUTES", [
        ("A", ROADS[0], "?t1 :observedProperty ?p1 ; :hasValue ?v1 FILTER(?v1 > 3)"),
        ("B", ROADS[1], "?t2 :observedProperty ?p1 ; :hasValue ?v2 FILTER(?v2 >= ?v1)"),
        ("C", ROADS[2], "?t3 :observedProperty ?p1 ; :hasValue ?v3 FILTER(?v3 >= ?v2)"),
    ]),
    "Q6": boats(knowledge=False),
}  # fmt: skip


def graphs(query: str, count: int) -> list[GraphEvent]:
    """Events of the shape that a query reads, a second apart."""
    random = np.random.default_rng(SEED)
    made = {"Q1": _grid, "Q2": _cards, "Q3": _stocks, "Q4": _stocks, "Q5": _roads, "Q6": _boats}[query]
    return list(made(random, count))


def _event(stream: str, second: int, body: str) -> GraphEvent:
    return GraphEvent(stream, second * STEP_US, f"@prefix : <http://ex/> . @prefix pred: <http://example/> . {body}")


def _stocks(random: np.random.Generator, count: int) -> Iterator[GraphEvent]:
    prices = 100 + np.cumsum(random.integers(-3, 4, count))
    for n, (price, volume) in enumerate(zip(prices.tolist(), random.integers(1, 900, count).tolist(), strict=True)):
        yield _event(STOCKS, n, f":google pred:price {price} ; pred:volume {volume} .")


def _cards(random: np.random.Generator, count: int) -> Iterator[GraphEvent]:
    for n, (card, amount) in enumerate(random.integers(1, [20, 500], (count, 2)).tolist()):
        yield _event(CARDS, n, f":card{card} pred:id {card} ; pred:amount {amount} ; pred:loc :L{card % 7} .")


def _grid(random: np.random.Generator, count: int) -> Iterator[GraphEvent]:
    for n, (at, one, other) in enumerate(random.integers(0, [5, 60, 12], (count, 3)).tolist()):
        source = '"fuel"' if n % 3 == 0 else '"solar"'
        if n % 3 == 1:
            yield _event(GRID[1], n, f":w{at} :loc :L{at} ; :value :V{n} . :V{n} :light {one} ; :windsp {other} .")
        else:
            said = f":h{at} :loc :L{at} ; :pow :P{n} . :P{n} :source {source} ; :fare {one} ; :watt {other} ."
            yield _event(GRID[n % 3], n, said)


def _roads(random: np.random.Generator, count: int) -> Iterator[GraphEvent]:
    for n, value in enumerate(random.integers(0, 10, count).tolist()):
        yield _event(ROADS[n % 3], n // 3, f":road{n % 3} :observedProperty :congestion ; :hasValue {value} .")


def vessel_rows(count: int) -> dict[str, list[object]]:
    """Trips of vessels, one after the other: out of harbour, faster and faster, and stopped in a fishing area."""
    random = np.random.default_rng(SEED)
    kept = random.integers(0, 3, count)  # one in three keeps to the published sequence
    phase = np.arange(count) % 8
    vessel = (np.arange(count) // 8) % 500
    speed = np.where(phase == 7, 0, 5 + phase * np.where(kept == 0, 1, 2))
    location = np.where(phase == 0, "harbour", np.where(phase == 7, "fishingarea", "sea"))
    direction = np.where(phase == 7, 10, 90 + np.where(random.integers(0, 40, count) == 0, 5, 0))
    return {
        "mmsi": vessel.tolist(), "speed": speed.tolist(), "location": location.tolist(), "direction": direction.tolist()
    }  # fmt: skip


def _boats(random: np.random.Generator, count: int) -> Iterator[GraphEvent]:
    del random
    held = vessel_rows(count)
    for n, (mmsi, speed, location, direction) in enumerate(zip(*held.values(), strict=True)):
        body = f'pred:speed {speed} ; pred:location "{location}" ; pred:direction {direction}'
        yield _event(BOATS, n, f"<urn:mmsi:{mmsi}> {body} .")


def knowledge_of(triples: int) -> str:
    """Vessels and their operators, in N-Triples; the five hundred that sail, and many that do not."""
    lines = []
    for n in range(triples // 3):
        subject = f"<urn:mmsi:{n}>"
        lines.append(f'{subject} <http://ex/name> "vessel {n}" .')
        lines.append(f"{subject} <http://ex/operatedBy> <http://ex/c{n % 997}> .")
        if n < 997:
            lines.append(f'<http://ex/c{n}> <http://ex/cname> "operator {n}" .')
        else:
            lines.append(f'{subject} <http://ex/built> "{1950 + n % 70}" .')
    return "\n".join(lines)


def timed(call: Callable[[], int]) -> tuple[float, int]:
    """The least processor time of two runs, and what the call returned."""
    seconds, found = [], 0
    for _ in range(2):
        began = time.process_time()
        found = call()
        seconds.append(time.process_time() - began)
    return min(seconds), found


def over_graphs(name: str, text: str, events: Sequence[GraphEvent], varied: str = "", known: str = "") -> Row:
    """One query over graphs."""
    knowledge = Knowledge({DB: [KnowledgeText("kb.ttl", known)]} if known else {})
    machine = Machine(compile_query(text, Place(name), Options()), knowledge)
    seconds, found = timed(lambda: len(machine.advance(machine.fresh(), events).results))
    return Row(name, "graphs", varied, len(events), found, seconds, len(events) / seconds)


def over_columns(name: str, text: str, table: pa.Table, mapping: str, varied: str = "", known: str = "") -> Row:
    """One query over columns."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "mapping.yaml").write_text(mapping)
        (folder / "kb.nt").write_text(known)
        (folder / f"{name}.spaseq").write_text(text)
        iri = STOCKS if name in ("Q3", "Q4") else BOATS
        keys = f"streams: {{{iri}: mapping.yaml}}\n" + (f"knowledge: {{{DB}: kb.nt}}\n" if known else "")
        file = folder / "entry.yaml"
        file.write_text(f"language: spaseq\nname: {name}\nsays: One.\nquery: {name}.spaseq\n{keys}")
        (entry,) = catalog_named([str(file)], None, {}, languages=True).others
        assert isinstance(entry, SpaseqEntry)
        held = Events((), ArrowFrame(table))
        seconds, found = timed(lambda: _on_columns(entry, held))
    return Row(name, "columns", varied, table.num_rows, found, seconds, table.num_rows / seconds)


def _on_columns(entry: SpaseqEntry, events: Events) -> int:
    found = answer(entry, events)
    assert not any("over graphs" in note for note in found.notes), found.notes
    return len(found.results)


BOAT_MAPPING = """subject: "urn:mmsi:{mmsi}"
prefixes: {p: http://example/}
columns: {p:speed: speed, p:location: location, p:direction: direction}
"""
STOCK_MAPPING = """subject: "http://ex/{company}"
prefixes: {p: http://example/}
columns: {p:price: price, p:volume: volume}
"""


def stock_table(rows: int) -> pa.Table:
    """The prices of one company."""
    random = np.random.default_rng(SEED)
    prices = 100 + np.cumsum(random.integers(-3, 4, rows))
    company = pa.array(np.zeros(rows, np.int32))
    named = pa.DictionaryArray.from_arrays(company, ["google"]).cast(pa.string())
    columns = {"company": named, "price": prices, "volume": random.integers(1, 900, rows)}
    return pa.table({"track": named, "time": _times(rows), **columns})


def boat_table(rows: int) -> pa.Table:
    """The trips of vessels."""
    held = vessel_rows(rows)
    return pa.table({"track": pa.array(map(str, held["mmsi"])), "time": _times(rows), **held})


def _times(rows: int) -> pa.Array:
    return pa.array(np.arange(rows) * STEP_US, pa.int64()).cast(pa.timestamp("us", "UTC"))


def measured(events: int, rows: int) -> Iterator[Row]:
    """All measurements, in the order of the table."""
    for name, text in QUERIES.items():
        yield over_graphs(name, text, graphs(name, events))
    table = boat_table(rows)
    stock = stock_table(rows)
    yield over_columns("Q3", stocks(7), stock, STOCK_MAPPING)
    yield over_columns("Q4", stocks(3), stock, STOCK_MAPPING)
    yield over_columns("Q6", boats(knowledge=False), table, BOAT_MAPPING)
    yield over_columns("Q6", boats(knowledge=False, by=" PARTITION BY ?vessel"), table, BOAT_MAPPING, "by vessel")
    of_stocks = graphs("Q4", events)
    for minutes in (10, 60, 240):
        yield over_graphs("Q4", stocks(3, f"{minutes} MINUTES"), of_stocks, f"window {minutes} min")
        yield over_columns("Q4", stocks(3, f"{minutes} MINUTES"), stock, STOCK_MAPPING, f"window {minutes} min")
    for length in (2, 4, 8, 16):
        yield over_graphs("Q4", stocks(length), of_stocks, f"length {length}")
        yield over_columns("Q4", stocks(length), stock, STOCK_MAPPING, f"length {length}")
    of_boats = graphs("Q6", events)
    for triples in (10_000, 100_000, 1_000_000):
        known = knowledge_of(triples)
        yield over_graphs("Q6", boats(), of_boats, f"knowledge {triples:,}", known)
        yield over_columns("Q6", boats(), table, BOAT_MAPPING, f"knowledge {triples:,}, read each time", known)


def lines(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    said = ["| query | path | varied | events | results | events per core-second |", "|---|---|---|---:|---:|---:|"]
    said += [
        f"| {r.query} | {r.path} | {r.varied} | {r.events:,} | {r.results:,} | {r.events_per_second:,.0f} |"
        for r in rows
    ]
    return "\n".join(said)


def main() -> None:
    """Measure, print the table, keep it with the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=60_000, help="Events for the path over graphs.")
    parser.add_argument("--rows", type=int, default=2_000_000, help="Rows for the path over columns.")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    rows = []
    for row in measured(options.events, options.rows):
        rows.append(row)
        print(row, flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "spaseq.json").write_text(json.dumps([asdict(row) for row in rows], indent=1))
    (options.out / "spaseq.md").write_text(lines(rows) + "\n")
    print(lines(rows))


if __name__ == "__main__":
    main()
