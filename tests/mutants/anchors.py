"""Finds the place of a planted fault: a module, a class or function in it, and tokens of an expression there.

Tokens are compared, not lines, so that formatting and comments do not matter. Each anchor must be found exactly once.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["AnchorError", "Mutant", "mutate", "source_of"]

ROOT = Path(__file__).resolve().parents[2]
_C_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|(?:\d|\.\d)[\w.]*(?:(?<=[eE])[+-]\w+)?|\s+|->|\S', re.S
)
_SKIPPED = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)

Token = tuple[str, int, int]  #: text, start and end in the source


class AnchorError(AssertionError):
    """The place of a planted fault is gone, or there are several."""


@dataclass(frozen=True)
class Mutant:
    """One planted fault.

    Parameters
    ----------
    at : str
        ``"package.module:Class.function"`` (or ``"package.module:NAME"`` for an assignment), or for C
        ``"package/file.c:function"``, both within spacectl.
    old, new : str
        The expression there, and what is planted instead.
    tests : str
        Test files below tests/ that must notice it, separated by spaces; at least one of their tests must fail.
    """

    at: str
    old: str
    new: str
    tests: str

    @property
    def area(self) -> str:
        """The layer: first part of the module's name."""
        return re.split(r"[./]", self.at)[0]


def source_of(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file that the fault is planted in."""
    module = mutant.at.partition(":")[0]
    relative = module if module.endswith((".c", ".h")) else f"{module.replace('.', '/')}.py"
    return root / "spacectl" / relative


def mutate(mutant: Mutant, root: Path = ROOT) -> str:
    """Text of the file with the fault.

    Raises
    ------
    AnchorError
        If the file, the function or the expression is gone, or there are several.
    """
    path, name = source_of(mutant, root), mutant.at.partition(":")[2]
    if not path.is_file():
        raise AnchorError(f"{mutant.at}: there is no {path.relative_to(root)}; {_elsewhere(mutant, root)}")
    text = path.read_text(encoding="utf-8")
    is_c = path.suffix in (".c", ".h")
    first, last = (_c_function if is_c else _definition)(text, name, mutant.at)
    tokens = [item for item in (_c_tokens if is_c else _tokens)(text) if first <= item[1] and item[2] <= last]
    wanted = [item[0] for item in (_c_tokens if is_c else _tokens)(mutant.old)]
    places = [k for k in range(len(tokens) - len(wanted) + 1) if [t[0] for t in tokens[k : k + len(wanted)]] == wanted]
    if len(places) != 1:
        raise AnchorError(f"{mutant.at}: {mutant.old!r} is there {len(places)} times, expected once")
    begin, end = tokens[places[0]][1], tokens[places[0] + len(wanted) - 1][2]
    return text[:begin] + mutant.new + text[end:]


def _definition(text: str, name: str, what: str) -> tuple[int, int]:
    """Where the class, function or assignment with this qualified name begins and ends."""
    starts = _line_starts(text)
    found: list[tuple[int, int]] = []

    def visit(nodes: Iterable[ast.AST], before: tuple[str, ...]) -> None:
        for node in nodes:
            own: tuple[str, ...] = ()
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                own = (node.name,)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                own = tuple(item.id for item in targets if isinstance(item, ast.Name))[:1]
            if own and ".".join((*before, *own)) == name:
                ends = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
                found.append(tuple(_offset(text, starts, *place) for place in ends))
            if not isinstance(node, ast.expr):
                visit(ast.iter_child_nodes(node), (*before, *own))

    visit(ast.parse(text).body, ())
    if len(found) != 1:
        raise AnchorError(f"{what}: {len(found)} definitions of that name, expected one")
    return found[0]


def _c_function(text: str, name: str, what: str) -> tuple[int, int]:
    """Where the C function (or the #define) of this name begins and ends."""
    tokens = _c_tokens(text)
    found = [_define(text, match.start()) for match in re.finditer(rf"^#define {re.escape(name)}\b", text, re.M)]
    depth = 0
    for k, (token, start, _) in enumerate(tokens):
        if depth == 0 and token == name and tokens[k + 1][0] == "(":
            close = _closing(tokens, k + 1, "(", ")")
            if close + 1 < len(tokens) and tokens[close + 1][0] == "{":
                found.append((start, tokens[_closing(tokens, close + 1, "{", "}")][2]))
        depth += (token == "{") - (token == "}")
    if len(found) != 1:
        raise AnchorError(f"{what}: {len(found)} functions of that name, expected one")
    return found[0]


def _define(text: str, start: int) -> tuple[int, int]:
    end = re.compile(r"(?<!\\)$", re.M).search(text, start)
    return start, len(text) if end is None else end.start()


def _closing(tokens: Sequence[Token], k: int, opening: str, closing: str) -> int:
    depth = 0
    for i in range(k, len(tokens)):
        depth += (tokens[i][0] == opening) - (tokens[i][0] == closing)
        if depth == 0:
            return i
    return len(tokens) - 1


@lru_cache(maxsize=8)
def _c_tokens(text: str) -> list[Token]:
    found = [(match.group(), match.start(), match.end()) for match in _C_TOKEN.finditer(text)]
    return [item for item in found if not item[0].isspace() and not item[0].startswith(("/*", "//"))]


@lru_cache(maxsize=8)
def _tokens(text: str) -> list[Token]:
    starts, found = _line_starts(text), []
    with contextlib.suppress(tokenize.TokenError):  # an anchor may be part of an expression, with a bracket left open
        for item in tokenize.generate_tokens(io.StringIO(text).readline):
            if item.type not in _SKIPPED:
                ends = (starts[line - 1] + column for line, column in (item.start, item.end))
                found.append((item.string, *ends))
    return found


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(text: str, starts: Sequence[int], line: int, column: int) -> int:
    """Of a place that ast counts in bytes of the line."""
    row = text[starts[line - 1] : starts[line] if line < len(starts) else None]
    return starts[line - 1] + len(row.encode()[:column].decode())


def _elsewhere(mutant: Mutant, root: Path) -> str:
    """Where the expression is now, for whoever moved it."""
    wanted = " ".join(mutant.old.split())
    pattern = f"*{source_of(mutant, root).suffix}"
    hits = [
        path.relative_to(root)
        for path in sorted((root / "spacectl").rglob(pattern))
        if wanted in " ".join(path.read_text(encoding="utf-8").split())
    ]
    return f"the expression is in {', '.join(map(str, hits))}" if hits else "nor is the expression anywhere else"
