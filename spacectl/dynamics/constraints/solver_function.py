"""Constrained accelerations around a numeric solver: a differentiable CasADi function, and native state derivatives.

An expression graph cannot pivot, so the solver is a callback; its derivatives follow from the same equations:
``M dv = df - dM v_dot + dE lam + E dlam``, ``J dv = dgamma - dJ v_dot`` is again a constrained system. Native code wraps the
generated terms: it factorises the mass matrix or solves the constraint equations by the pivoted kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction, compiler_flags, find_sizes, prepare_native
from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import EmittedC, emit_function
from spacectl.codegen.library import load_tuned
from spacectl.codegen.straight_line import entry_with_own_turns
from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.layout import Layout, lay_out_terms
from spacectl.dynamics.constraints.sharing import least_work
from spacectl.dynamics.constraints.solvers import SOLVERS, Solution

__all__ = ["AccelerationSolver", "compile_solved", "constrained_solve", "shared_reactions"]


class AccelerationSolver(Protocol):
    """A solver for the accelerations that uses more than the matrices, such as a partition of the speeds; hashable."""

    def __hash__(self) -> int: ...

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Return accelerations and multipliers."""


@lru_cache(maxsize=256)
def constrained_solve(n: int, m: int, solver: str | AccelerationSolver, check: bool = True) -> ca.Function:
    """Return (M, f, J, gamma, E) -> (v_dot, lam) for n speeds and m constraint equations.

    `solver` is a key of `SOLVERS` or an `AccelerationSolver`. Where there is no solution the results are NaN; the equations
    of motion report the cause. With `check`, contradictions among dependent equations count as no solution. The function is
    cached for the life of the process, as CasADi requires for callbacks.
    """
    return _Solve(n, m, solver, check)


class _Callback(ca.Callback):  # type: ignore[misc]
    """A numeric function of dense matrices with two vectors as results, and forward derivatives."""

    NAMES: tuple[str, ...]

    def __init__(self, name: str, shapes: Sequence[tuple[int, int]], sizes: tuple[int, int]):
        super().__init__()
        self.shapes, self.sizes = shapes, sizes
        self.construct(name, {})

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the results; raise `SolverError` where there are none."""
        raise NotImplementedError

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        """Return the derivatives of the results along seeds of the arguments."""
        raise NotImplementedError

    def get_n_in(self) -> int:
        return len(self.shapes)

    def get_n_out(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(*self.shapes[i])

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.sizes[i], 1)

    def eval(self, arg: list[Any]) -> list[Any]:
        try:
            return [ca.DM(item) for item in self.values(*(np.asarray(item.full()) for item in arg))]
        except (SolverError, np.linalg.LinAlgError, ValueError):
            return [ca.DM.nan(size, 1) for size in self.sizes]

    def has_forward(self, nfwd: int) -> bool:
        return True

    def get_forward(
        self, nfwd: int, name: str, inames: list[str], onames: list[str], opts: dict[str, Any]
    ) -> ca.Function:
        given = [ca.MX.sym(key, *shape) for key, shape in zip(self.NAMES, self.shapes, strict=True)]
        results = [ca.MX.sym(f"r{i}", size) for i, size in enumerate(self.sizes)]
        seeds = [ca.MX.sym(f"d{i}", rows, columns * nfwd) for i, (rows, columns) in enumerate(self.shapes)]
        pieces = [  # without constraints E has no columns to split
            ca.horzsplit(seed, columns) if columns else [seed] * nfwd
            for seed, (_, columns) in zip(seeds, self.shapes, strict=True)
        ]
        found = [self.derivative(given, results, [piece[k] for piece in pieces]) for k in range(nfwd)]
        outputs = [ca.horzcat(*[item[i] for item in found]) for i in range(2)]
        return ca.Function(name, [*given, *results, *seeds], outputs, inames, onames, opts)


class _Solve(_Callback):
    """The solver as a CasADi callback."""

    NAMES = ("M", "f", "J", "gamma", "E")

    def __init__(self, n: int, m: int, solver: str | AccelerationSolver, check: bool):
        self.n, self.m, self.solver, self.check = n, m, solver, check
        self.solve = SOLVERS[solver] if isinstance(solver, str) else solver.solve
        name = f"constrained_{solver if isinstance(solver, str) else 'solver'}"
        super().__init__(name, [(n, n), (n, 1), (m, n), (m, 1), (n, m)], (n, m))

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, f, J, gamma, E = given
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(E))):  # comparing pivots would not find such equations
            raise SolverError("constraint equations are not defined here")
        solution = self.solve(M, f[:, 0], J, gamma[:, 0], E, check=self.check)
        return solution.v_dot, solution.lam

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        M, _, J, _, E = given
        v_dot, lam = results
        d_M, d_f, d_J, d_gamma, d_E = seeds
        # single seeds may violate dependent equations, although sums of seeds along the constraints satisfy them
        solve = constrained_solve(self.n, self.m, self.solver, False)
        found: list[Any] = solve(M, d_f - d_M @ v_dot + d_E @ lam, J, d_gamma - d_J @ v_dot, E)
        return found


def shared_reactions(M: Any, E: Any, lam: Any, compliance: tuple[float, ...]) -> Any:
    """Return the multipliers of least work with the same effect as `lam` (`constraints.sharing`), as an expression."""
    n, m = E.shape
    return lam + _least_work(n, compliance)(M, E, ca.MX.zeros(n), -ca.DM(compliance) * lam)[0] if m else lam


@lru_cache(maxsize=256)
def _least_work(n: int, compliance: tuple[float, ...]) -> ca.Function:
    """Return (M, E, b, w) -> (lam, y) of `least_work`; cached as CasADi's callbacks require."""
    return _LeastWork(n, compliance)


class _LeastWork(_Callback):
    """`least_work` as a CasADi callback; M only scales, so it has no derivative by M.

    ``c dlam = dw + dE' y + E' dy`` and ``E dlam = db - dE lam`` are the same problem.
    """

    NAMES = ("M", "E", "b", "w")

    def __init__(self, n: int, compliance: tuple[float, ...]):
        m = len(compliance)
        self.n, self.compliance = n, compliance
        super().__init__("least_work", [(n, n), (n, m), (n, 1), (m, 1)], (m, n))

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, E, b, w = given
        if not all(np.all(np.isfinite(item)) for item in given):
            raise SolverError("the load to be shared is not finite")
        return least_work(M, E, b[:, 0], w[:, 0], np.array(self.compliance))

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        M, E, _, _ = given
        lam, y = results
        _, d_E, d_b, d_w = seeds
        found: list[Any] = _least_work(self.n, self.compliance)(M, E, d_b - d_E @ lam, d_w + d_E.T @ y)
        return found


def compile_solved(terms: ca.Function, p: Any, layout: Layout | None = None) -> NativeFunction:
    """Compile (t, x, u, p) -> x_dot from terms (t, q, v, u, p) -> (q_dot, M, f): native code that factorises M.

    With constraints the terms return (J, gamma, E) too (see `dynamics.constraints.solvers`). Where the mass
    matrix is not positive definite, or the constraints cannot be satisfied, v_dot is NaN. A `layout` provides
    its own C function ``accelerations``.
    """
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    sizes = [1, n_q + n_v, terms.numel_in(3), terms.numel_in(4)]
    library, emitted = _solved_library(terms, layout)
    return prepare_native(library, emitted.n_prepared, p, sizes, [n_q + n_v], emitted.angles)


@lru_cache(maxsize=64)
def _solved_library(terms: ca.Function, layout: Layout | None) -> tuple[ctypes.CDLL, EmittedC]:
    """Compile the terms together with the factorisation, once for each function of a process."""
    n_q, n_v = terms.numel_in(1), terms.numel_in(2)
    is_constrained = terms.n_out() == 6
    if layout is None:
        layout = lay_out_terms(terms) if is_constrained else _full_layout(terms)
    emitted = emit_function(layout.function, "terms", hoist="p", turns="q")
    solve = _source(n_q, n_v, layout.sizes, is_constrained)
    if emitted.angles:
        solve = solve.replace("int evaluate(", "int evaluate_turned(").replace("terms(inner", "terms_turned(inner")
        solve = solve.replace("arg[3]}", "arg[3], arg[4]}") + entry_with_own_turns("evaluate", 4, 1, emitted.angles)
    files = {**layout.headers, "expression.c": layout.text + emitted.text + solve}
    name = "constrained_terms" if is_constrained else "solved_terms"
    return load_tuned(files, name=name, flags=compiler_flags(terms)), emitted


def _full_layout(terms: ca.Function) -> Layout:
    """Return the layout of a system without constraints."""
    header = c_source("spacectl.dynamics.recursion", "factor.h")
    return Layout(terms, find_sizes(terms)[1], '#include <math.h>\n#include "factor.h"\n', {"factor.h": header})


def _source(n_q: int, n_v: int, sizes: Sequence[int], is_constrained: bool) -> str:
    """Return C for the state derivatives of a system around its terms."""
    if is_constrained:
        locals_ = f"double M[{sizes[1]}], J[{sizes[3]}], gamma[{sizes[4]}], E[{sizes[5]}];"
        results, failed = "res[0], M, v_dot, J, gamma, E", "accelerations(M, v_dot, J, gamma, E, 0)"
    else:
        locals_ = f"double M[{n_v * n_v}];"
        results, failed = "res[0], M, v_dot", f"sc_factor({n_v}, M) >= 0"
    solve = "" if is_constrained else f" else {{ sc_solve({n_v}, M, v_dot); }}"
    return f"""
int evaluate(const double **arg, double **res, long long *iw, double *w, int mem) {{
    {locals_}
    double *v_dot = res[0] + {n_q};
    const double *inner_arg[] = {{arg[0], arg[1], arg[1] + {n_q}, arg[2], arg[3]}};
    double *inner_res[] = {{{results}}};
    terms(inner_arg, inner_res, iw, w, mem);
    if ({failed}) {{
        for (int i = 0; i < {n_v}; i++) v_dot[i] = NAN;
    }}{solve}
    return 0;
}}
void evaluate_prepare(const double *p, double *w) {{ terms_prepare(p, w); }}
"""
