"""Random rule sets and streams of several types: small values and short windows, so that everything meets."""

from typing import Any

from hypothesis import strategies as st

from tests.patterns.tesla.reference import Event

INPUT = ("A", "B", "C")
MADE = ("X", "Y", "Z")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
AGGREGATES = ("Avg", "Sum", "Count", "Min", "Max")


@st.composite
def rule_sets(draw: st.DrawFn) -> str:
    """One to three rules; the type that one defines may be read by others, and as a terminator by later ones."""
    number = draw(st.integers(1, 3))
    return "\n".join(_rule(draw, n) for n in range(number))


def _rule(draw: st.DrawFn, number: int) -> str:
    made = MADE[number]
    terminator = draw(st.sampled_from((*INPUT, *MADE[:number])))
    types = (*INPUT, *MADE)
    bound: list[tuple[str, str]] = [("T", terminator)]
    params: list[str] = []
    clauses = [f"{_predicate(draw, terminator, params, bound, True)} as T"]
    for n in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(("positive", "positive", "not", "condition", "aggregate")))
        anchor = draw(st.sampled_from(bound))[0]
        if kind == "positive":
            name = draw(st.sampled_from(types))
            policy = draw(st.sampled_from(("each", "last", "first", "2-last", "2-first")))
            per = " per k" if policy != "each" and draw(st.integers(0, 4)) == 0 else ""
            text = _predicate(draw, name, params, bound, True)
            clauses.append(f"{policy} {text} as E{n}{per} within {_span(draw)} from {anchor}")
            bound.append((f"E{n}", name))
        elif kind == "not":
            text = _predicate(draw, draw(st.sampled_from(types)), params, bound, False)
            clauses.append(f"not {text} {_scope(draw, bound)}")
        elif kind == "condition":
            clauses.append(
                f"{_expression(draw, bound)} {draw(st.sampled_from(COMPARISONS))} {_expression(draw, bound)}"
            )
        elif draw(st.booleans()):
            params.append(f"g{number}{n}")
            clauses.append(f"$g{number}{n} = {_aggregate(draw, params[:-1], bound)}")
        else:
            clauses.append(f"{_aggregate(draw, params, bound)} {draw(st.sampled_from(COMPARISONS))} {_number(draw)}")
    value = draw(st.sampled_from((_expression(draw, bound), _aggregate(draw, params, bound))))
    consumed = ""
    if draw(st.integers(0, 2)) == 0:
        consumed = " consuming " + ", ".join(
            draw(st.lists(st.sampled_from([n for n, _ in bound]), min_size=1, max_size=2, unique=True))
        )
    text = " and\n  ".join(clauses)
    return (
        f"Rule r{number} define {made}(k: int, v: double, s: string) from {text}\n"
        f"  where k={draw(st.sampled_from(bound))[0]}.k, v={value}, s=T.s{consumed}"
    )


def _span(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(("1", "2 s", "3 sec", "5", "4000 ms")))


def _scope(draw: st.DrawFn, bound: list[tuple[str, str]]) -> str:
    if len(bound) > 1 and draw(st.booleans()):
        one, other = draw(st.sampled_from(bound))[0], draw(st.sampled_from(bound))[0]
        return f"between {one} and {other}"
    return f"within {_span(draw)} from {draw(st.sampled_from(bound))[0]}"


def _number(draw: st.DrawFn) -> str:
    return str(draw(st.sampled_from((0, 1, 2, 3, 0.5, -1))))


def _predicate(draw: st.DrawFn, name: str, params: list[str], bound: list[tuple[str, str]], binds: bool) -> str:
    constraints = []
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.integers(0, 4))
        attribute = draw(st.sampled_from(("k", "v")))
        sign = draw(st.sampled_from(COMPARISONS))
        if kind == 0 and binds:
            fresh = f"p{len(params)}"
            params.append(fresh)
            constraints.append(f"{attribute}=${fresh}")
        elif kind == 1 and params:
            constraints.append(f"{attribute}{draw(st.sampled_from(('=', '=', sign)))}${draw(st.sampled_from(params))}")
        elif kind == 2 and len(bound) > 1 and not binds:
            constraints.append(f"{attribute}={draw(st.sampled_from(bound))[0]}.{attribute}")
        elif kind == 3:
            constraints.append(f"s{sign}'{draw(st.sampled_from('ab'))}'")
        else:
            constraints.append(f"{attribute}{sign}{_number(draw)}")
    return f"{name}({' and '.join(constraints)})"


def _expression(draw: st.DrawFn, bound: list[tuple[str, str]]) -> str:
    name = draw(st.sampled_from(bound))[0]
    plain = draw(st.sampled_from((f"{name}.k", f"{name}.v", f"{name}.ts", _number(draw))))
    other = f"{draw(st.sampled_from(bound))[0]}.{draw(st.sampled_from('kv'))}"
    forms = (plain, plain, f"({plain} + {other})", f"{plain} / {other}", f"abs({plain} - {other})", f"max({plain}, 1)")
    return draw(st.sampled_from(forms))


def _aggregate(draw: st.DrawFn, params: list[str], bound: list[tuple[str, str]]) -> str:
    function = draw(st.sampled_from(AGGREGATES))
    attribute = "" if function == "Count" and draw(st.booleans()) else f".{draw(st.sampled_from('kv'))}"
    text = _predicate(draw, draw(st.sampled_from((*INPUT, *MADE))), list(params), bound, False)
    return f"{function}({text}{attribute} {_scope(draw, bound)})"


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Up to some twenty events, many of them at one instant, some with nulls."""
    found = []
    time = 0
    for _ in range(draw(st.integers(0, 18))):
        time += draw(st.sampled_from((0, 0, 1, 1, 2)))
        held: dict[str, Any] = {
            "k": draw(st.sampled_from((0, 1, 2, 2, None))),
            "v": draw(st.sampled_from((0, 1, 2, 2.5, 3, None))),
            "s": draw(st.sampled_from(("a", "b", None))),
        }
        found.append(Event(draw(st.sampled_from(INPUT)), time * 1_000_000, held))
    return found
