"""Every single-token change that a trial may make: where it is, and what would stand there instead.

Only code that decides something is changed: no annotations, imports, decorators, docstrings or texts of messages.
"""

import ast
import io
import token
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATORS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "/",
    "//": "*",
    "%": "*",
    "&": "|",
    "|": "&",
    "<<": ">>",
    ">>": "<<",
    "+=": "-=",
    "-=": "+=",
}
WORDS = {
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "break": "continue",
    "continue": "break",
    "not": "",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One token of a file, and what is put in its place."""

    path: Path
    line: int
    column: int
    old: str
    new: str
    text: str
    """The line as it is."""

    def __str__(self) -> str:
        return (
            f"{self.path}:{self.line}:{self.column + 1}: {self.old} -> {self.new or 'nothing'}    {self.text.strip()}"
        )

    def applied(self, source: str) -> str:
        """The source with this one change."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        assert line.startswith(self.old, self.column), f"{self} is not there"
        lines[self.line - 1] = line[: self.column] + self.new + line[self.column + len(self.old) :]
        return "".join(lines)


def changes_of(root: Path, path: Path) -> list[Change]:
    """The changes of one file, among them some that are no Python: ask `is_python`."""
    source = (root / path).read_text(encoding="utf-8")
    lines = source.splitlines()
    kept_out = defaultdict(list)
    for first, last in _untouched(ast.parse(source)):
        for line in range(first[0], last[0] + 1):
            kept_out[line].append((first, last))
    found = []
    for part in tokenize.generate_tokens(io.StringIO(source).readline):
        line, column = part.start
        new = _instead(part)
        if new is None or any(first <= (line, column) < last for first, last in kept_out[line]):
            continue
        # columns of tokens count characters, as `applied` does
        found.append(Change(path, line, column, part.string, new, lines[line - 1]))
    return found


def is_python(change: Change, root: Path) -> bool:
    """Whether the changed file can be read at all."""
    try:
        ast.parse(change.applied((root / change.path).read_text(encoding="utf-8")))
    except SyntaxError:
        return False
    return True


def _instead(part: tokenize.TokenInfo) -> str | None:
    if part.type == token.OP:
        return OPERATORS.get(part.string)
    if part.type == token.NAME:
        return WORDS.get(part.string)
    if part.type == token.NUMBER:
        return _next_number(part.string)
    return None


def _next_number(text: str) -> str | None:
    if text.isdecimal():
        return str(int(text) + 1)
    try:
        return repr(float(text) * 2 or 1.0)
    except ValueError:
        return None


Span = tuple[tuple[int, int], tuple[int, int]]


def _untouched(tree: ast.Module) -> Iterator[Span]:
    """The stretches of a file that decide nothing when it runs."""
    for node in ast.walk(tree):
        for part in _parts_untouched(node):
            assert part.end_lineno is not None
            assert part.end_col_offset is not None
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _parts_untouched(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Raise():
            yield node
        case ast.AnnAssign(annotation=annotation):
            yield annotation
            if ast.unparse(annotation) == "TypeAlias":
                yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
            arguments = node.args
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            yield from (a.annotation for a in every if a is not None and a.annotation is not None)
            if node.returns is not None:
                yield node.returns
        case ast.ClassDef():
            yield from node.decorator_list
        case ast.Assign(targets=[ast.Name(id="msg" | "__all__")]):
            yield node
        case ast.Assign(targets=targets, value=value) if _is_number(value) and _is_constant(targets):
            # a limit that was chosen: another choice is no fault
            yield node
        case ast.Call(func=ast.Name(id="slots" | "isinstance" | "cast" | "TypeVar")):
            yield node
        case ast.keyword(arg="strict" | "slots" | "frozen" | "repr" | "maxsize" | "dtype"):
            yield node.value


def _is_constant(targets: list[ast.expr]) -> bool:
    names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return bool(names) and all(name.isupper() for name in names)


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is written in numbers alone: `64`, `1 << 30`, `20_000, 64`."""
    return all(isinstance(part, _OF_NUMBERS) for part in ast.walk(value))


_OF_NUMBERS = (ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
