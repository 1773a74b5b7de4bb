"""A query as an entry of the catalog: its text, where its streams and its knowledge come from, and its options."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from foresail.bounded_yaml import YamlError, bounded_text, read_yaml_file
from foresail.patterns.catalog.languages import LanguageEntry, Section
from foresail.patterns.catalog.nodes import CatalogError, PlacedText
from foresail.patterns.drawing.diagram import Diagram, Edge
from foresail.patterns.drawing.svg import draw_dot, draw_svg
from foresail.patterns.errors import Place
from foresail.patterns.spaseq.lower import NotLowered, known_terms, lower
from foresail.patterns.spaseq.mapping import TableMapping, read_mapping
from foresail.patterns.spaseq.options import Options
from foresail.patterns.spaseq.plan import Plan, compile_query
from foresail.patterns.spaseq.syntax import Atom, Both, Operand, Use

FILE = ".spaseq"
MAPPINGS = (".yaml", ".yml")
_SECOND_US = 1_000_000


class SpaseqEntry(LanguageEntry):
    """One SPAseq query."""

    TEXT: ClassVar[str] = "query"

    language: Literal["spaseq"] = "spaseq"
    query: str = Field(min_length=1, description="The query, or the name of a .spaseq file beside the entry.")
    streams: dict[str, str] = Field(
        default_factory=dict, description="By the IRI of a stream a topic, a file of graphs, or a mapping of a table."
    )
    knowledge: dict[str, str] = Field(
        default_factory=dict, description="By the IRI of a graph a file: Turtle, TriG or N-Triples."
    )
    windows: Literal["tumbling", "per_run"] = Field("tumbling", description="Windows side by side, or one a run.")
    start: str | int | float | None = Field(None, description="When the query was issued; the first event if absent.")
    kleene: Literal["last", "formal"] = Field("last", description="What iterations bind: the last one, or all alike.")
    stn: Literal["set", "per_mapping"] = Field("set", description="What skip-till-next takes: the run, or a mapping.")
    distinct: Literal["trace", "bindings"] = Field("trace", description="What makes two results differ.")
    half_open: bool = Field(False, description="A window without its last instant.")
    merge_same_tau: bool = Field(False, description="Merge a second graph of a stream at one instant.")

    @field_validator("start")
    @classmethod
    def _a_time(cls, start: str | int | float | None) -> str | int | float | None:
        _start_us(start)
        return start

    @field_validator("streams", "knowledge")
    @classmethod
    def _by_iri(cls, held: Mapping[str, str]) -> dict[str, str]:
        named = {iri.strip().removeprefix("<").removesuffix(">"): place for iri, place in held.items()}
        for iri in named:
            if ":" not in iri or any(sign in iri for sign in ' <>"{}|\\^`'):
                msg = f"'{iri}' is no IRI. Write one such as http://harbour.org/boats before the colon."
                raise ValueError(msg)
        return named

    @property
    def folder(self) -> Path:
        """Where the files are that the entry names."""
        return Path(self.placed("query").place.name).parent

    @property
    def options(self) -> Options:
        """How the query is read."""
        return Options(
            self.windows,
            _start_us(self.start),
            self.kleene,
            self.stn,
            self.distinct,
            self.half_open,
            self.merge_same_tau,
        )

    def plan(self) -> Plan:
        """The query, compiled; raises `PatternError` where that cannot be."""
        written = self.text()
        return compile_query(written.text, written.place, self.options, self.name)

    def text(self) -> PlacedText:
        """The text of the query with its place; that of its file where it names one."""
        held = self.placed("query")
        name = self.query.strip()
        if not name.endswith(FILE) or len(name.split()) > 1:
            return held
        file = self.folder / name
        try:
            return PlacedText(bounded_text(file, str(file)), Place(str(file)))
        except YamlError as error:
            raise CatalogError(str(error)) from None
        except OSError as error:
            msg = f"{held.place}: {file} cannot be read ({error.strerror}). Name a file beside the entry."
            raise CatalogError(msg) from None

    def mappings(self) -> dict[str, TableMapping]:
        """By the IRI of a stream how the rows of a table are its graphs, where the entry names a mapping."""
        found = {}
        for iri, name in self.streams.items():
            if not name.endswith(MAPPINGS):
                continue
            file = self.folder / name
            try:
                found[iri] = read_mapping(read_yaml_file(file), str(file))
            except YamlError as error:
                raise CatalogError(str(error)) from None
            except OSError as error:
                msg = f"{file}: cannot be read ({error.strerror}). Name a mapping beside the entry."
                raise CatalogError(msg) from None
        return found

    def path(self) -> tuple[str, str]:
        """Whether columns or graphs answer the query, and why."""
        plan, mappings = self.plan(), self.mappings()
        iris = list(plan.streams)
        if not any(iri in mappings for iri in iris):
            return "graphs", "no stream has a mapping"
        try:
            if len(iris) > 1:
                lower(plan, {})
            lowered = lower(plan, known_terms(mappings[iris[0]]))
        except NotLowered as reason:
            return "graphs", str(reason)
        if lowered.partitioned:
            return "columns", "stars around the subject that it is partitioned by, over mapped predicates"
        return "columns", "stars over mapped predicates, as long as no two rows are of one instant"

    def check(self) -> Sequence[str]:
        """Compile it; notes are names that nothing uses."""
        plan = self.plan()
        self.mappings()
        notes = list(plan.warnings)
        notes += [
            f"{self.name}: GRAPH <{iri}> has no file. Name one in knowledge:."
            for iri in plan.graphs
            if iri not in self.knowledge
        ]
        for key, held, known in (("streams", self.streams, plan.streams), ("knowledge", self.knowledge, plan.graphs)):
            notes += [
                f"{self.name}: {key} names <{iri}>, which the query does not." for iri in held if iri not in known
            ]
        return notes

    def sections(self) -> Iterable[Section]:
        """Streams, knowledge, the patterns with where their filters are decided, and the options."""
        plan = self.plan()
        yield "Streams", [(f"{s.name} <{s.iri}>", self.streams.get(s.iri, "")) for s in plan.query.streams]
        yield "Knowledge", [(f"<{iri}>", self.knowledge.get(iri, "no file")) for iri in plan.graphs]
        yield "Sequence", [(_said(atom), _binds(plan, atom)) for atom in plan.query.sequence]
        yield "Filters", [(gpm.name, said) for gpm in plan.gpms for said in _filters(plan, gpm.name)]
        yield "Path", [self.path()]
        shown = {name: getattr(self, name) for name in ("windows", "kleene", "stn", "distinct", "half_open")}
        shown |= {"merge_same_tau": self.merge_same_tau, "start": self.start or "the first event"}
        yield "Options", [(name, str(value)) for name, value in shown.items()]

    def drawn(self, form: str) -> str:
        """The automaton of the sequence: a loop where events are skipped or an atom is repeated."""
        diagram = _diagram(self.plan())
        return draw_dot(diagram) if form == "dot" else draw_svg(diagram)


ENTRY = SpaseqEntry


def _start_us(start: str | int | float | None) -> int | None:
    if start is None:
        return None
    try:
        return round(float(start) * _SECOND_US)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(str(start))
    except ValueError:
        msg = f"'{start}' is no time. Write it as 2024-05-01T12:00:00Z, or as seconds since 1970."
        raise ValueError(msg) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * _SECOND_US + since.microseconds


def _said(atom: Atom) -> str:
    return f"{atom.after or ' '} {_operand(atom.what)}{atom.postfix}"


def _operand(operand: Operand, inside: bool = False) -> str:
    if isinstance(operand, Use):
        return operand.gpm
    sign = " & " if isinstance(operand, Both) else " | "
    text = sign.join(_operand(part, inside=True) for part in operand.parts)
    return f"({text})" if inside else text


def _binds(plan: Plan, atom: Atom) -> str:
    if not isinstance(atom.what, Use):
        return ""
    gpm = next(gpm for gpm in plan.gpms if gpm.name == atom.what.gpm)
    known = [name for part in gpm.knowledge for name in part.variables if name not in gpm.variables]
    return f"<{gpm.stream}> binds " + ", ".join(f"?{name}" for name in (*gpm.variables, *dict.fromkeys(known)))


def _filters(plan: Plan, name: str) -> Iterable[str]:
    gpm = next(gpm for gpm in plan.gpms if gpm.name == name)
    written = next(gpm for gpm in plan.query.gpms if gpm.name == name)
    apart = {condition.place: "one event and knowledge" for condition in gpm.joined}
    apart |= {condition.place: "the join with other events" for condition in gpm.stateful}
    for one in written.filters:
        yield f"{' '.join(one.text.split())} decided by {apart.get(one.place, 'one event')}"


def _diagram(plan: Plan) -> Diagram:
    edges: list[Edge] = []
    atoms = plan.query.sequence
    for place, atom in enumerate(atoms):
        label = _operand(atom.what)
        if atom.after in (";", ":"):
            skipped = "any event" if atom.after == ":" else f"not {label}"
            edges.append(Edge(place, place, skipped))
        edges.append(Edge(place, place + 1, f"no {label}" if atom.postfix == "!" else label))
        if atom.postfix == "+":
            edges.append(Edge(place + 1, place + 1, f"{label} again"))
        if atom.postfix == "?":
            edges.append(Edge(place, place + 1, "nothing"))
    return Diagram(plan.name, len(atoms) + 1, frozenset({len(atoms)}), tuple(edges))
