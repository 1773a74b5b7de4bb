"""The plain triples at the top level of a group: what says which events belong together, and what columns can answer.

Terms are texts: `?name` for a variable, N-Triples notation for a constant, and nothing for what is neither (a path, a
list, a blank node).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lark import Token, Tree

from foresail.patterns.spaseq.terms import expanded, quoted, unescaped

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_BLOCKS = frozenset({"OPTIONAL", "MINUS", "UNION", "BIND", "VALUES", "SELECT"})


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple pattern; an empty text stands for what is no plain term."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Triples:
    """The triples of a group; `plain` when the group holds nothing else but filters and enrichments."""

    found: tuple[Triple, ...]
    plain: bool

    @property
    def complete(self) -> bool:
        """Whether the triples are all there is, and all their terms are plain."""
        return self.plain and all(t.subject and t.predicate and t.object for t in self.found)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the triples, in the order of the text."""
        terms = (term for t in self.found for term in (t.subject, t.predicate, t.object))
        return tuple(dict.fromkeys(term[1:] for term in terms if term.startswith("?")))


def read_triples(
    pieces: Sequence[Token | Tree[Token]], iri_of: Callable[[Token], str], template: bool = False
) -> Triples:
    """The triples among the pieces at the top level of a group; in a template a blank node is a plain term."""
    return _TripleReader(pieces, iri_of, template).read()


class _TripleReader:
    def __init__(self, pieces: Sequence[Token | Tree[Token]], iri_of: Callable[[Token], str], template: bool) -> None:
        self._template = template
        self._pieces = pieces
        self._iri_of = iri_of
        self._place = 0
        self._found: list[Triple] = []
        self._plain = True

    def read(self) -> Triples:
        while (piece := self._peek()) is not None:
            if isinstance(piece, Tree):
                self._plain = False
                self._place += 1
            elif piece == ".":
                self._place += 1
            elif piece.type == "NAME" and piece.upper() in ("FILTER", "GRAPH"):
                self._skip_block()
            elif piece.type == "NAME" and piece.upper() in _BLOCKS:
                self._plain = False
                self._skip_block()
            else:
                self._subject()
        return Triples(tuple(self._found), self._plain)

    def _peek(self) -> Token | Tree[Token] | None:
        return self._pieces[self._place] if self._place < len(self._pieces) else None

    def _skip_block(self) -> None:
        while (piece := self._peek()) is not None:
            self._place += 1
            if isinstance(piece, Tree):
                return

    def _subject(self) -> None:
        subject = self._term()
        while True:
            predicate = self._predicate()
            while True:
                self._found.append(Triple(subject, predicate, self._term()))
                if self._peek() != ",":
                    break
                self._place += 1
            if self._peek() != ";":
                return
            while self._peek() == ";":
                self._place += 1
            following = self._peek()
            if following is None or following == "." or isinstance(following, Tree) or _opens_block(following):
                return

    def _predicate(self) -> str:
        begin = self._place
        predicate = self._term()
        # whatever stands between a path's signs belongs to the path
        while isinstance(piece := self._peek(), Token) and piece in ("/", "|", "*", "+", "?", "^"):
            self._plain = False
            self._place += 1
            if piece in ("/", "|"):
                self._term()
            predicate = ""
        return predicate if self._place > begin else ""

    def _term(self) -> str:
        piece = self._peek()
        self._place += 1
        if not isinstance(piece, Token):
            self._plain = False
            return ""
        match piece.type:
            case "VAR":
                return f"?{piece[1:]}"
            case "IRI" | "PREFIXED":
                return f"<{self._iri_of(piece)}>"
            case "STRING":
                return self._literal(piece)
            case "NUMBER":
                return expanded(str(piece)) or ""
            case "BLANK" if self._template:
                return str(piece)
            case "NAME" if piece == "a":
                return TYPE
            case "NAME" if piece in ("true", "false"):
                return expanded(str(piece)) or ""
        if piece in ("-", "+") and isinstance(number := self._peek(), Token) and number.type == "NUMBER":
            self._place += 1
            return expanded(("-" if piece == "-" else "") + number) or ""
        self._plain = False
        if piece == "[":
            self._skip_brackets()
        elif piece in ("^", "!"):
            self._term()
        return ""

    def _literal(self, piece: Token) -> str:
        width = 3 if piece[:3] in ('"""', "'''") else 1
        text = quoted(unescaped(piece[width:-width]))
        following = self._peek()
        if isinstance(following, Token) and following.type == "WORD":
            self._place += 1
            return text + str(following)
        if following == "^^":
            self._place += 1
            return f"{text}^^{self._term()}"
        return text

    def _skip_brackets(self) -> None:
        depth = 1
        while depth and (piece := self._peek()) is not None:
            depth += (piece == "[") - (piece == "]")
            self._place += 1


def _opens_block(piece: Token) -> bool:
    return piece.type == "NAME" and piece.upper() in _BLOCKS | {"FILTER", "GRAPH"}
