"""What a SPARQL group holds at its top level: filters and enrichments with their places, found among its tokens.

SPARQL itself is read by the engine that evaluates it. Only what SPAseq treats apart is looked for here: filters, which
may read variables of earlier events, and `GRAPH <iri> { ... }`, which is joined from background knowledge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lark import Token, Tree

from foresail.patterns.errors import PatternError, Place
from foresail.patterns.spaseq.syntax import Enrichment, Filter, Variable

Piece: TypeAlias = Token | Tree[Token]
_REFUSED = frozenset({"SERVICE", "LOAD"})


@dataclass(slots=True)
class Group:
    """What has been found in the group of one graph pattern."""

    filters: list[Filter] = field(default_factory=list)
    enrichments: list[Enrichment] = field(default_factory=list)
    graphs: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    after_enrichment: set[str] = field(default_factory=set)
    nested_reads: list[Variable] = field(default_factory=list)


class GroupReader:
    """Reads the pieces of one group; `iri_of` resolves prefixed names."""

    def __init__(self, text: str, where: Place, prefixes: dict[str, str]) -> None:
        self._text = text
        self._where = where
        self._prefixes = prefixes

    def read(self, group: Tree[Token]) -> Group:
        """What `group`, the tree of `{ ... }`, holds."""
        found = Group()
        self._walk(_pieces(group), found, top=True, begin=_begin(group) + 1)
        return found

    def _walk(self, pieces: Sequence[Piece], found: Group, top: bool, begin: int) -> None:
        place = 0
        while place < len(pieces):
            piece = pieces[place]
            if isinstance(piece, Tree):
                self._walk(_pieces(piece), found, top=False, begin=begin)
                place += 1
                continue
            word = piece.upper() if piece.type == "NAME" else ""
            if word:
                self._note(word, piece, found, top)
            if word == "FILTER":
                place = self._filter(pieces, place, found, top, begin)
            elif word == "GRAPH":
                place = self._graph(pieces, place, found, top, begin)
            else:
                if piece.type == "PREFIXED":
                    self.iri_of(piece)
                place += 1

    def _note(self, word: str, token: Token, found: Group, top: bool) -> None:
        if word in _REFUSED:
            msg = (
                f"{self.place_of(token)}: {token} is refused, since nothing is ever fetched. "
                "Put the data into a file and name it in knowledge:, then join it with GRAPH."
            )
            raise PatternError(msg)
        found.words.add(word)
        if top and found.enrichments:
            found.after_enrichment.add(word)

    def _filter(self, pieces: Sequence[Piece], place: int, found: Group, top: bool, begin: int) -> int:
        end = place + 1
        while end < len(pieces) and not isinstance(pieces[end], Tree):
            end += 1
        if end == len(pieces):
            msg = f"{self.place_of(pieces[place])}: FILTER without a condition. Write it in parentheses behind FILTER."
            raise PatternError(msg)
        constraint = pieces[place + 1 : end + 1]
        reads, looks_up = self._variables(constraint)
        self._walk(constraint, found, top=False, begin=begin)
        if not top:
            found.nested_reads += reads
            return end + 1
        first, last = _begin(pieces[place]) - begin, _end(constraint[-1]) - begin
        text = self._text[_begin(constraint[0]) : _end(constraint[-1])]
        found.filters.append(Filter(text, reads, looks_up, first, last, self.place_of(constraint[0])))
        return end + 1

    def _graph(self, pieces: Sequence[Piece], place: int, found: Group, top: bool, begin: int) -> int:
        name = pieces[place + 1] if place + 1 < len(pieces) else None
        body = pieces[place + 2] if place + 2 < len(pieces) else None
        if not isinstance(name, Token) or name.type not in ("IRI", "PREFIXED") or not isinstance(body, Tree):
            msg = (
                f"{self.place_of(pieces[place])}: GRAPH joins one graph of background knowledge. "
                "Write its IRI and a group: GRAPH <http://...> { ... }."
            )
            raise PatternError(msg)
        iri = self.iri_of(name)
        found.graphs.append(iri)
        if top:
            inner = self._text[_begin(body) + 1 : _end(body) - 1]
            first, last = _begin(pieces[place]) - begin, _end(body) - begin
            found.enrichments.append(Enrichment(iri, inner, first, last, self.place_of(body)))
        self._walk(_pieces(body), found, top=False, begin=begin)
        return place + 3

    def _variables(self, pieces: Sequence[Piece]) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
        reads: list[Variable] = []
        looks_up: list[Variable] = []
        for piece, inside in _tokens(pieces, inside=False):
            if piece.type == "VAR":
                (looks_up if inside else reads).append(Variable(piece[1:], self.place_of(piece)))
        return tuple(reads), tuple(looks_up)

    def iri_of(self, token: Token) -> str:
        """The IRI that an IRI or a prefixed name stands for."""
        if token.type == "IRI":
            return str(token)[1:-1]
        prefix, _, local = token.partition(":")
        if prefix not in self._prefixes:
            known = ", ".join(f"{name}:" for name in sorted(self._prefixes)) or "none"
            msg = f"{self.place_of(token)}: unknown prefix '{prefix}:'. Declared: {known}. Add PREFIX {prefix}: <...>."
            raise PatternError(msg)
        return self._prefixes[prefix] + local.replace("\\", "")

    def place_of(self, piece: Piece) -> Place:
        """Where a piece stands."""
        meta = piece if isinstance(piece, Token) else piece.meta
        return self._where.at(meta.line or 1, meta.column or 1)


def _tokens(pieces: Sequence[Piece], inside: bool) -> Iterator[tuple[Token, bool]]:
    """Every token below, and whether it stands in the group of an EXISTS."""
    for piece in pieces:
        if isinstance(piece, Token):
            yield piece, inside
        else:
            yield from _tokens(_pieces(piece), inside or piece.data == "group")


def _pieces(tree: Tree[Token]) -> list[Piece]:
    return tree.children


def _begin(piece: Piece) -> int:
    return int((piece.start_pos if isinstance(piece, Token) else piece.meta.start_pos) or 0)


def _end(piece: Piece) -> int:
    return int((piece.end_pos if isinstance(piece, Token) else piece.meta.end_pos) or 0)
