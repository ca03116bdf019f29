"""Functions of `EquationsOfMotion`: labels, named functions that are built on first use, values along a history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.batch_function import evaluate_points
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.labels import Labels
from spacectl.model.system import System

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "EquationLabels",
    "LazyFunctions",
    "as_given_state",
    "described_system",
    "evaluate_along",
    "evaluate_many",
    "form_jacobian",
]


class LazyFunctions(Mapping[str, ca.Function]):
    """Named CasADi functions, each built on first use."""

    def __init__(self, builders: Mapping[str, Callable[[], ca.Function]]):
        self._builders = dict(builders)
        self._built: dict[str, ca.Function] = {}

    @property
    def builders(self) -> dict[str, Callable[[], ca.Function]]:
        """Builder of each function, or the function itself once it is built, for sharing."""
        return {name: partial(self.__getitem__, name) for name in self._builders}

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self._built:
            if name not in self._builders:
                raise ModelError(unknown_name("function", name, self._builders))
            self._built[name] = self._builders[name]()
        return self._built[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the function, or `default` if there is none of that name."""
        return self[name] if name in self._builders else default

    def __contains__(self, name: object) -> bool:
        return name in self._builders

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def __len__(self) -> int:
        return len(self._builders)


@dataclass(frozen=True)
class EquationLabels:
    """Names and units of coordinates q, speeds v, inputs u and outputs y."""

    q: Labels
    v: Labels
    u: Labels
    y: Labels

    @cached_property
    def x(self) -> Labels:
        """The state (q, v)."""
        return Labels(self.q.names + self.v.names, self.q.units + self.v.units, "state")


#: Operations from which a Jacobian is formed by directions: at 17 000 in a tenth of the time, for twice that of each value
LARGE_FUNCTION = 4000


def form_jacobian(
    functions: Mapping[str, ca.Function], function: str, output: str, argument: str, *, is_for_many: bool = False
) -> ca.Function:
    """Return the exact, dense Jacobian of a named function's output by one of its arguments.

    If there is a function of the same name ending in ``_implicit``, it is differentiated instead: it has the
    same values and cheaper derivatives. For large functions the derivative along one direction is formed once and evaluated
    for every entry of the argument, unless the Jacobian is for many points.
    """
    f, implicit = functions[function], f"{function}_implicit"
    for name, known in ((output, f.name_out()), (argument, f.name_in())):
        if name not in known:
            raise ModelError(f"jacobian of '{function}': {unknown_name('argument', name, known)}")
    is_large = f.is_a("SXFunction") and f.n_instructions() > LARGE_FUNCTION and f.numel_in(argument) > 0
    if is_large and not is_for_many and f.size2_out(output) == 1:
        return _jacobian_by_directions(f, f.index_out(output), f.index_in(argument))
    f = functions[implicit if implicit in functions else function]
    g = f.factory(f"jac_{function}", f.name_in(), [f"jac:{output}:{argument}"])
    x = [ca.MX.sym(name, *g.size_in(i)) for i, name in enumerate(g.name_in())]
    return ca.Function(g.name(), x, [ca.densify(g(*x))], g.name_in(), ["jac"])


def _jacobian_by_directions(f: ca.Function, output: int, argument: int) -> ca.Function:
    """Return the Jacobian of a column, one column of it for each unit direction of the argument."""
    n, given = f.numel_in(argument), range(f.n_in())
    along = f.forward(1)  # (arguments, results, directions of the arguments) -> directions of the results
    mapped: Any = along.map(f"jac_{f.name()}", "serial", n, list(range(f.n_in() + f.n_out())), [])
    arguments = [ca.MX.sym(f.name_in(i), *f.size_in(i)) for i in given]
    results = [ca.MX(*f.size_out(i)) for i in range(f.n_out())]
    directions = [ca.MX(ca.DM.eye(n)) if i == argument else ca.MX(f.size1_in(i), n * f.size2_in(i)) for i in given]
    columns = mapped.call([*arguments, *results, *directions])[output]
    return ca.Function(mapped.name(), arguments, [ca.densify(columns)], f.name_in(), ["jac"])


#: Arguments (before p) of the numeric calls that large systems replace
_NUMERIC = {
    "x_dot": ("t", "x", "u"),
    "v_dot": ("t", "q", "v", "u"),
    "bias": ("t", "q", "v"),
    "mass_matrix": ("t", "q"),
    "input_map": ("t", "q"),
    "multipliers": ("t", "q", "v", "u"),
    "constraints": ("t", "q", "v"),
    "projection": ("t", "q", "v"),
    "residual": ("t", "q", "v"),
    "sides": ("t", "q"),
}


def evaluate_many(
    eom: EquationsOfMotion, function: str, t: Any, x: Any, u: Any, p: np.ndarray, *, threads: int = 1
) -> np.ndarray:
    """Evaluate a named function at times t (n,) or one time, states x (n, n_x) and inputs u (n, n_u): point first.

    The first output is taken; for ``"energy"`` the sum of both. A column vector loses its second axis.
    """
    times, states = np.asarray(t, dtype=float), np.asarray(x, dtype=float)
    if states.ndim != 2 or states.shape[1] != eom.n_x:
        raise ShapeError(f"many: x has shape {states.shape}, expected (n, {eom.n_x}): one state in each row")
    n = len(states)
    times = np.full(n, float(times)) if times.ndim == 0 else times.reshape(-1)
    if times.size != n:
        raise ShapeError(f"many: t has shape {np.shape(t)}, expected a number or ({n},), as many as states")
    inputs = np.zeros((n, eom.n_u)) if u is None else np.asarray(u, dtype=float)
    if inputs.shape != (n, eom.n_u):
        raise ShapeError(f"many: u has shape {inputs.shape}, expected ({n}, {eom.n_u})")
    known = {"t": times[:, None], "x": states, "q": states[:, : eom.n_q], "v": states[:, eom.n_q :], "u": inputs}
    needed = _NUMERIC[function] if function in eom.handover.calls else tuple(eom.functions[function].name_in()[:-1])
    if other := [name for name in needed if name not in known]:
        raise ModelError(f"many: '{function}' takes {other[0]} too; call it for one point at a time")
    call = eom.native_calls(p, n).get(function)
    if call is not None and call.native is not None:
        (found,) = evaluate_points(call.native, [known[name] for name in call.names], n, threads=threads)
        return found.reshape(n, *call.shape)
    calls = eom.handover.calls
    if function in calls:
        rows = [known[name] for name in _NUMERIC[function]]
        stacked = np.array([calls[function](*(row[i] for row in rows), p)[0] for i in range(n)])
    else:
        f = eom.functions[function]
        results = _over_rows(f, [known[name] for name in f.name_in()[:-1]], p)
        stacked = results[0] + results[1] if function == "energy" else results[0]
    return stacked[:, :, 0] if stacked.shape[2] == 1 else stacked


def evaluate_along(eom: EquationsOfMotion, function: str, t: Any, x: Any, u: Any, p: np.ndarray) -> np.ndarray:
    """Evaluate a named function along a history, as `evaluate_many` does: t (n,), x (n, n_x), u (n, n_u)."""
    times, states = np.asarray(t, dtype=float).reshape(-1), np.asarray(x, dtype=float)
    if states.shape != (times.size, eom.n_x):
        raise ShapeError(f"along: x has shape {states.shape}, expected ({times.size}, {eom.n_x}): time comes first")
    if u is not None and np.shape(u) != (times.size, eom.n_u):
        raise ShapeError(f"along: u has shape {np.shape(u)}, expected ({times.size}, {eom.n_u}): time comes first")
    return evaluate_many(eom, function, times, states, u, p)


def _over_rows(f: ca.Function, rows: Sequence[np.ndarray], p: np.ndarray) -> list[np.ndarray]:
    """Evaluate f at n times with one p: results (n, height, width), without CasADi matrices in between."""
    n = rows[0].shape[0]
    if n == 0:
        return [np.zeros((0, *f.size_out(i))) for i in range(f.n_out())]
    buffer: Any
    buffer, run = _mapped(f, n).buffer()
    given = [np.ascontiguousarray(item, dtype=float) for item in (*rows, p)]
    # CasADi is column-major: columns of a (height, n width) result follow each other
    results = [np.full((n, *reversed(f.size_out(i))), np.nan) for i in range(f.n_out())]
    for i, item in enumerate(given):
        if item.size:
            buffer.set_arg(i, item.reshape(-1).data)
    for i, result in enumerate(results):
        if result.size:
            buffer.set_res(i, result.reshape(-1).data)
    run()
    return [result.transpose(0, 2, 1) for result in results]


@lru_cache(maxsize=64)
def _mapped(f: ca.Function, n: int) -> ca.Function:
    """Return f at n points with one p, dense."""
    points: Any = f.map(f.name(), "serial", n, [f.n_in() - 1], [])
    if all(f.sparsity_out(i).is_dense() for i in range(f.n_out())):
        return points
    arguments = [ca.MX.sym(f.name_in(i), *points.size_in(i)) for i in range(f.n_in())]
    return ca.Function(f.name(), arguments, [ca.densify(item) for item in points.call(arguments)])


def described_system(eom: EquationsOfMotion, p: Any = None) -> System:
    """Return the system of `eom` with the flexible bodies that the parameters p describe.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    p : array, shape (n_p,), optional
        Run-time parameters, made from named fields (``{"boom.length": 5.0}``) in this process. For other values the fields
        are not known, and the system is returned unchanged.
    """
    names = eom.parameters.physical
    if names is None or p is None:
        return eom.system
    system: System = names.described(eom.system, np.asarray(p, dtype=float))
    return system


def as_given_state(eom: EquationsOfMotion, x0: Any, what: str) -> np.ndarray:
    """Return a state of these equations, with quaternions of unit length."""
    try:
        given = np.array(x0, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} is {x0!r}, expected {eom.n_x} numbers; eom.state(name=...) makes them") from error
    if given.shape != (eom.n_x,):
        raise ShapeError(f"{what} has shape {given.shape}, expected ({eom.n_x},); eom.state(name=...) makes one")
    state: np.ndarray = eom.state(given)
    return state
