"""What a query may not say, found before it runs: names, operators that have no meaning together, variables."""

from collections.abc import Iterable, Mapping

from foresail.patterns.errors import PatternError, Place, nearest
from foresail.patterns.limits import check_parts
from foresail.patterns.spaseq.syntax import Atom, Query, uses


def check_names(query: Query) -> tuple[str, ...]:
    """Refuse names that are unknown or used twice, and operators without a meaning; warnings are returned."""
    _refuse_twice((stream.name, stream.place) for stream in query.streams)
    _refuse_twice((gpm.name, gpm.named_at) for gpm in query.gpms)
    if not query.streams:
        msg = f"{query.place}: no stream is declared. Add FROM STREAM S1 <http://...> before WHERE."
        raise PatternError(msg)
    streams = [stream.name for stream in query.streams]
    gpms = [gpm.name for gpm in query.gpms]
    for gpm in query.gpms:
        if gpm.stream not in streams:
            raise _unknown(gpm.stream, streams, gpm.stream_at, what="stream", way_out="Declare it with FROM STREAM.")
    named = [use for atom in query.sequence for use in uses(atom.what)]
    check_parts(named, query.place)
    for use in named:
        if use.gpm not in gpms:
            raise _unknown(use.gpm, gpms, use.place, what="GPM", way_out="Define it with DEFINE GPM.")
    for before, atom in zip((None, *query.sequence), query.sequence, strict=False):
        _check_postfix(atom, before)
    for atom, behind in zip(query.sequence, query.sequence[1:], strict=False):
        if atom.postfix in ("?", "!") and behind.after != ",":
            raise _beside(atom, behind.after or "")
    used = {use.gpm for use in named}
    return tuple(f"{gpm.named_at}: GPM {gpm.name} is never used in SEQ." for gpm in query.gpms if gpm.name not in used)


def _check_postfix(atom: Atom, before: Atom | None) -> None:
    if atom.postfix not in ("?", "!"):
        return
    if before is None:
        msg = f"{atom.place}: '{atom.postfix}' has no meaning on the first pattern of SEQ. Put a pattern before it."
        raise PatternError(msg)
    if atom.after != ",":
        raise _beside(atom, atom.after or "")
    if before.postfix in ("?", "!"):
        both = f"'{before.postfix}' and '{atom.postfix}'"
        msg = f"{atom.place}: {both} side by side are not defined. Put a pattern between them."
        raise PatternError(msg)


def _beside(atom: Atom, sign: str) -> PatternError:
    return PatternError(
        f"{atom.place}: '{atom.postfix}' beside '{sign}' is not defined. Write ',' on both sides of it."
    )


def check_variables(
    query: Query, bound: Mapping[str, frozenset[str]], in_subject_or_object: Mapping[str, frozenset[str]]
) -> None:
    """Refuse a projection of what nothing binds, and a partition that a graph pattern says nothing of."""
    used = {use.gpm for atom in query.sequence if atom.postfix != "!" for use in uses(atom.what)}
    known = frozenset().union(*(bound[name] for name in used)) if used else frozenset()
    for variable in query.projected or ():
        if variable.name not in known:
            listed = ", ".join(f"?{name}" for name in sorted(known))
            msg = (
                f"{variable.place}: ?{variable.name} is bound by no GPM of the sequence. "
                f"{nearest(variable.name, known)}Bound: {listed}."
            )
            raise PatternError(msg)
    for name in query.construct.variables if query.construct else ():
        if name not in known:
            listed = ", ".join(f"?{each}" for each in sorted(known))
            msg = (
                f"{query.place}: ?{name} of CONSTRUCT is bound by no GPM of the sequence. "
                f"{nearest(name, known)}Bound: {listed}."
            )
            raise PatternError(msg)
    if query.partition_by is None:
        return
    for gpm in query.gpms:
        if query.partition_by.name not in in_subject_or_object[gpm.name]:
            msg = (
                f"{query.partition_by.place}: PARTITION BY ?{query.partition_by.name} needs ?{query.partition_by.name} "
                f"as a subject, or as an object behind a predicate, at the top level of every GPM; {gpm.name} has it "
                "not. Add such a triple, or remove PARTITION BY."
            )
            raise PatternError(msg)


def _refuse_twice(names: Iterable[tuple[str, Place]]) -> None:
    first: dict[str, Place] = {}
    for name, place in names:
        if name in first:
            msg = f"{place}: {name} is defined twice, first at {first[name]}. Give one of them another name."
            raise PatternError(msg)
        first[name] = place


def _unknown(name: str, known: Iterable[str], place: Place, *, what: str, way_out: str) -> PatternError:
    known = sorted(known)
    return PatternError(f"{place}: unknown {what} '{name}'. {nearest(name, known)}{way_out} Known: {', '.join(known)}.")
