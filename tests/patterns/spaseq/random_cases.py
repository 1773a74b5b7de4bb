"""Random sequences, streams and knowledge: small enough that every operator meets every other."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.patterns.spaseq.reference import Atom, Case, Event, Gpm
from tests.patterns.spaseq.running import DB, PREFIX, TURTLE, stream

STREAMS = ("u1", "u2")
SUBJECTS = ("s0", "s1", "s2", "s3")
NUMBERS = ("n0", "n1", "n2", "n3")
PLACES = ("l0", "l1", "l2", "l3")


@st.composite
def triples(draw: st.DrawFn) -> str:
    said = draw(
        st.lists(
            st.tuples(st.sampled_from((":a", ":b")), st.sampled_from((":p 0", ":p 1", ":p 2", ":q :L0", ":q :L1"))),
            min_size=2,
            max_size=5,
            unique=True,
        )
    )
    return " ".join(f"{subject} {rest} ." for subject, rest in said)


@st.composite
def events(draw: st.DrawFn) -> tuple[Event, ...]:
    places = draw(
        st.lists(
            st.tuples(st.sampled_from(("u1", "u1", "u2", "u3")), st.integers(0, 7)),
            min_size=4,
            max_size=10,
            unique=True,
        )
    )
    return tuple(Event(stream(name), time, TURTLE + draw(triples())) for name, time in places)


def comparing(left: str, sign: str, right: str) -> tuple[str, Callable[[dict[str, str]], bool]]:
    def test(mu: dict[str, str]) -> bool:
        if left not in mu or right not in mu:
            return False
        one, other = (int(mu[name].split('"')[1]) for name in (left, right))
        return {"<": one < other, ">=": one >= other, "!=": one != other}[sign]

    return f"(?{left} {sign} ?{right})", test


@st.composite
def gpm(draw: st.DrawFn, name: str, earlier: frozenset[str], enriched: bool, subject: str | None) -> Gpm:
    who = subject or draw(st.sampled_from(SUBJECTS))
    number, place = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(PLACES))
    body = draw(
        st.sampled_from(
            (
                f"?{who} :p ?{number}",
                f"?{who} :q ?{place}",
                f"?{who} :p ?{number} ; :q ?{place}",
                f"?{who} :p ?{number} OPTIONAL {{ ?{who} :q ?{place} }}",
                f"{{ ?{who} :p ?{number} }} UNION {{ ?{who} :q ?{place} }}"
                if subject is None
                else f"?{who} :p|:p ?{number}",
                f"?{who} :p ?{number} FILTER(?{number} > 0)",
                f"?{who} :q ?{place} MINUS {{ ?{who} :p 0 }}",
                f"?{who} :p ?{number} FILTER NOT EXISTS {{ ?{who} :q :L0 }}",
            )
        )
    )
    knowledge = f"?{who} :name ?k" if enriched and draw(st.booleans()) else ""
    stateful = []
    others = sorted((earlier & set(NUMBERS)) - {number})
    if f"?{number}" in body and others and draw(st.booleans()):
        stateful.append(comparing(number, draw(st.sampled_from(("<", ">=", "!="))), draw(st.sampled_from(others))))
    return Gpm(name, stream(draw(st.sampled_from(("u1", "u1", "u2")))), body, tuple(stateful), knowledge)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    partition_by = draw(st.sampled_from((None, None, "s0")))
    enriched = draw(st.booleans())
    gpms: list[Gpm] = []
    atoms: list[Atom] = []
    earlier: frozenset[str] = frozenset()
    count = draw(st.integers(1, 4))
    for place in range(count):
        kind = draw(st.sampled_from(("one", "one", "one", "plus", "both", "either", "mixed", "?", "!")))
        before = atoms[-1].postfix if atoms else ""
        after = None if not place else draw(st.sampled_from((",", ";", ":")))
        if before in ("?", "!"):
            after = ","
        if kind in ("?", "!"):
            kind = "one" if not place or before in ("?", "!") else kind
        if kind in ("?", "!"):
            after = ","
        width = {"both": 2, "either": 2, "mixed": 3}.get(kind, 1)
        first = len(gpms)
        for _ in range(width):
            gpms.append(draw(gpm(f"G{len(gpms)}", earlier, enriched, partition_by)))
        ways = {
            "both": ((first, first + 1),),
            "either": ((first,), (first + 1,)),
            "mixed": ((first, first + 1), (first + 2,)),
        }.get(kind, ((first,),))
        postfix = {"plus": "+", "?": "?", "!": "!"}.get(kind, "")
        atoms.append(Atom(ways, postfix, after))
        if kind != "!":
            earlier |= {name for made in gpms[first:] for name in NUMBERS if f"?{name}" in made.body}
    return Case(
        tuple(gpms),
        tuple(range(len(gpms))),
        tuple(atoms),
        draw(events()),
        draw(st.sampled_from((3, 20, 20))),
        PREFIX,
        draw(st.sampled_from((None, None, 0, 2))),
        draw(st.sampled_from(("tumbling", "per_run"))),
        draw(st.sampled_from(("last", "formal"))),
        draw(st.sampled_from(("set", "per_mapping"))),
        draw(st.booleans()),
        TURTLE + ":a :name :ka . :b :name :kb , :kc ." if draw(st.booleans()) else TURTLE,
        partition_by,
        frozenset(map(stream, STREAMS)),
    )


def text_of(case: Case) -> str:
    """The case as a query."""
    said = ""
    for atom in case.atoms:
        ways = [
            "(" + " & ".join(case.gpms[use].name for use in way) + ")" if len(way) > 1 else case.gpms[way[0]].name
            for way in atom.ways
        ]
        what = ways[0] if len(ways) == 1 else "(" + " | ".join(ways) + ")"
        said += f"{' ' + atom.after + ' ' if atom.after else ''}{what}{atom.postfix}"
    declared = " ".join(f"FROM STREAM {name} <{stream(name)}>" for name in STREAMS)
    short = {stream(name): name for name in STREAMS}
    gpms = "\n".join(f"DEFINE GPM {made.name} ON {short[made.stream]} {made.text(DB)}" for made in case.gpms)
    by = f" PARTITION BY ?{case.partition_by}" if case.partition_by else ""
    return f"{PREFIX} SELECT * WITHIN {case.within} SECONDS{by} {declared} WHERE {{ SEQ({said}) {gpms} }}"


def options_of_case(case: Case) -> dict[str, Any]:
    return {"windows": case.windows, "kleene": case.kleene, "stn": case.stn, "half_open": case.half_open}
