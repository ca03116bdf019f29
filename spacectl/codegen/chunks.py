"""Split long straight-line C code into calls of shorter functions: compile time becomes linear in its length.

Compilers need more than twice the time for a function of twice the length. Code above `CHUNKED_FROM` lines is
therefore cut where few values are live. Values that a later chunk reads are passed in an array on the stack;
all others are local. Lines and their order do not change, so results are identical bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["CHUNKED_FROM", "Line", "emit_body"]

CHUNKED_FROM = 3000  #: lines, preparation included, from which code is cut; a 7-joint arm is not
_SHORTEST, _LONGEST = 300, 600  # lines of a chunk: shorter ones compile no faster, longer ones run no faster


@dataclass(frozen=True)
class Line:
    """One line ``target = expression`` of straight-line code.

    Parameters
    ----------
    target : str
        Name of a new constant value, or a place in memory.
    expression : str
        Right-hand side in C.
    reads : tuple of str
        Operands of the expression: targets of earlier lines, and literals or memory places, which are
        ignored.
    kind : str
        "value" for a new value, "input" for one that is read from memory (each chunk can read it again),
        "store" for a place in memory, "call" for a statement that operates on memory only.
    """

    target: str
    expression: str
    reads: tuple[str, ...]
    kind: str = "value"

    @property
    def text(self) -> str:
        """Line in C."""
        if self.kind == "call":
            return f"    {self.expression}"
        return f"    {'' if self.kind == 'store' else 'const double '}{self.target} = {self.expression};"


def emit_body(
    lines: Sequence[Line],
    stores: Sequence[Line],
    name: str,
    memory: Sequence[tuple[str, str]],
    *,
    is_disjoint: bool = False,
    is_long: bool,
) -> tuple[list[str], list[str]]:
    """Return the C functions that precede a function, and the lines of its body.

    Parameters
    ----------
    lines : sequence of Line
        The code, each value before its use.
    stores : sequence of Line
        Stores at the end.
    name : str
        Name of the function; its chunks are called NAME_0, NAME_1 and so on.
    memory : sequence of (type, name)
        Pointers that the lines use, as the function names them.
    is_disjoint : bool
        Whether stores never overlap inputs; chunks then store as early as possible.
    is_long : bool
        Whether to split code that is longer than one chunk.

    Returns
    -------
    (list of str, list of str)
        Without chunks the first is empty and the second has each line's text.
    """
    if not is_long or len(lines) + len(stores) <= _LONGEST:
        return [], [line.text for line in (*lines, *stores)]
    lines = _woven(lines, stores) if is_disjoint else [*lines, *stores]
    inputs = {line.target: line for line in lines if line.kind == "input"}
    lines = [line for line in lines if line.kind != "input"]
    chunks = _cut(lines)
    made = {line.target: c for c, chunk in enumerate(chunks) for line in chunk if line.kind == "value"}
    last: dict[str, int] = {}  # value that crosses a border -> last chunk that reads it
    for c, chunk in enumerate(chunks):
        last |= {value: c for line in chunk for value in line.reads if made.get(value, c) < c}
    places, size = _places(chunks, last)
    parameters = ", ".join([*(f"{kind}{pointer}" for kind, pointer in memory), "double *x"])
    arguments = ", ".join([*(pointer for _, pointer in memory), "x"])
    before, body = [], [f"    double x[{max(size, 1)}];"]
    for c, chunk in enumerate(chunks):
        before.append(f"static __attribute__((noinline)) void {name}_{c}({parameters}) {{")
        before.append("    " + " ".join(f"(void){pointer};" for _, pointer in memory) + " (void)x;")
        known: set[str] = set()
        for line in chunk:
            for value in line.reads:
                if value not in known and (value in inputs or made.get(value, c) < c):
                    known.add(value)
                    before.append((inputs.get(value) or Line(value, places[value], ())).text)
            before.append(line.text)
            if line.target in places:
                before.append(f"    {places[line.target]} = {line.target};")
        before.append("}")
        body.append(f"    {name}_{c}({arguments});")
    return before, body


def _woven(lines: Sequence[Line], stores: Sequence[Line]) -> list[Line]:
    """Place each store directly after its value, stores of literals first."""
    waiting: dict[str, list[Line]] = {line.target: [] for line in lines}
    literals = [store for store in stores if store.reads[0] not in waiting]
    for store in stores:
        if store.reads[0] in waiting:
            waiting[store.reads[0]].append(store)
    return literals + [item for line in lines for item in (line, *waiting.get(line.target, ()))]


def _cut(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Cut code into chunks within the limits of length, where the fewest values are live."""
    made = {line.target: k for k, line in enumerate(lines) if line.kind == "value"}
    final = {value: k for k, line in enumerate(lines) for value in line.reads if value in made}
    change = [0] * (len(lines) + 1)
    for value, k in final.items():  # live at cuts before the lines from made + 1 to its final use
        change[made[value] + 1] += 1
        change[k + 1] -= 1
    alive = list(accumulate(change))
    chunks, start = [], 0
    while len(lines) - start > _LONGEST:
        stop = min(range(start + _SHORTEST, start + _LONGEST + 1), key=lambda k: (alive[k], -k))
        chunks.append(lines[start:stop])
        start = stop
    return [*chunks, lines[start:]]


def _places(chunks: Sequence[Sequence[Line]], last: dict[str, int]) -> tuple[dict[str, str], int]:
    """Assign a place in the array to each value that crosses chunks; reuse a place once it is free."""
    places: dict[str, str] = {}
    free: list[int] = []
    leaving: list[list[int]] = [[] for _ in chunks]
    size = 0
    for c, chunk in enumerate(chunks):
        for line in chunk:
            if line.target in last:
                if free:
                    place = free.pop()
                else:
                    place, size = size, size + 1
                places[line.target] = f"x[{place}]"
                leaving[last[line.target]].append(place)
        free.extend(leaving[c])
    return places, size
