"""`LinearKernel`: v_dot and its exact derivatives in one native call, for any tree of elementary joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from spacectl.codegen.binding import bind_native
from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.elements import ElementData
from spacectl.model.system import System

__all__ = ["RECURSIVE_FROM", "LinearKernel", "LinearTerms", "Solver"]

RECURSIVE_FROM = 28  #: speeds from which recursion over the tree is faster than factors of M (measured)

Solver = Literal["auto", "dense", "recursive"]


class LinearTerms(NamedTuple):
    """v_dot (n_v,), and its derivatives by tangent coordinates (n_v, n_v), speeds (n_v, n_v) and inputs (n_v, n_u).

    Tangent coordinates are the coordinates themselves, or for a quaternion the rotation vector in child axes.
    Their rates are the speeds.
    """

    v_dot: np.ndarray
    v_q: np.ndarray
    v_v: np.ndarray
    v_u: np.ndarray


class LinearKernel:
    """Native linearisation of one system for given parameters p. Do not share an instance between threads.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    solver : {"auto", "dense", "recursive"}
        How ``M X = B`` is solved: by factors of M, or by recursion over the tree (`inverse.h`), which is faster from
        `RECURSIVE_FROM` speeds on.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray, *, solver: Solver = "auto"):
        if solver not in ("auto", "dense", "recursive"):
            raise ModelError(f"linearisation: solver is {solver!r}, expected 'auto', 'dense' or 'recursive'")
        least = {"auto": RECURSIVE_FROM, "dense": np.inf, "recursive": 0}[solver]
        self.data = ElementData(system, parameters, p, least)
        self.speeds = self.data.speeds
        self.n_q, self.n_v, self.n_u = self.data.n_q, self.data.n_v, self.data.n_u
        self.solver: Solver = "recursive" if self.data.is_recursive else "dense"
        n = self.n_v
        #: (q, v, u) -> (v_dot, v_q, v_v, v_u)
        self.function = self.data.function(
            "sc_linearise_function", [self.n_q, n, self.n_u], [n, n * n, n * n, n * self.n_u]
        )
        bound = bind_native(self.function)
        self.q, self.v, self.u = bound.arguments
        self.terms = LinearTerms(
            bound.results[0], *(item.reshape(n, -1 if item.size else 0) for item in bound.results[1:])
        )
        self.call = NativeCall(
            "linearise",
            bound,
            {"q": self.q, "v": self.v, "u": self.u},
            self.terms,
            failed=partial(_singular, self.speeds),
            kind=LinearTerms,
        )

    @property
    def run(self) -> Callable[[], Any]:
        """Evaluate at the contents of q, v and u into `terms`; return 0 if M is positive definite."""
        return self.call.run

    def linearise(self, q: Any, v: Any, u: Any = ()) -> LinearTerms:
        """Return v_dot and its derivatives at a state.

        Parameters
        ----------
        q, v, u : arrays, shapes (n_q,), (n_v,), (n_u,)
            Coordinates, speeds, inputs. Contiguous arrays of floats are fastest.

        Raises
        ------
        ShapeError
            If q, v or u has another shape.
        SolverError
            If the mass matrix is not positive definite there; the message names the speed.
        """
        terms = self.call.fast(q, v, u)
        result: LinearTerms = self.call.checked(q, v, u) if terms is None else terms
        return result


def _singular(speeds: Sequence[str], code: int) -> SolverError:
    return SolverError(
        f"the mass matrix is singular: no body has inertia along speed '{speeds[code - 1]}' in this position"
    )
