"""`LinearKernel`: v_dot and its exact derivatives in one native call, for any tree."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from spacectl.codegen.extension import BoundKernel
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.elements import Elements, form_elements
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.recursion.tree_data import environment_arrays, gravity_number, input_arrays, member_arrays
from spacectl.dynamics.recursion.tree_kernel import tree_library
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.model.system import System

__all__ = ["RECURSIVE_FROM", "ElementStruct", "LinearKernel", "LinearTerms", "Solver"]

RECURSIVE_FROM = 28  #: speeds from which recursion over the tree is quicker than factors of M (measured)

Solver = Literal["auto", "dense", "recursive"]

_COUNTS = ("n_elements", "n_q", "n_v", "n_u", "n_joint_inputs", "n_body_inputs", "n_members", "gravity",
           "recursive")  # fmt: skip
_ARRAYS = (
    "kind",
    "parent",
    "q",
    "v",
    "records",
    "root",
    "joint_input",
    "joint_gain",
    "body_input",
    "body_data",
    "member",
    "member_data",
    "environment",
)


class ElementStruct(ctypes.Structure):
    """``sc_elements`` of element.h."""

    _fields_ = [(name, ctypes.c_longlong) for name in _COUNTS] + [(name, ctypes.c_void_p) for name in _ARRAYS]


class LinearTerms(NamedTuple):
    """v_dot (n_v,), and its derivatives by tangent coordinates (n_v, n_v), speeds (n_v, n_v) and inputs (n_v, n_u).

    Tangent coordinates are the coordinates themselves, but for a quaternion the rotation vector in child axes:
    their rates are the speeds.
    """

    v_dot: np.ndarray
    v_q: np.ndarray
    v_v: np.ndarray
    v_u: np.ndarray


class LinearKernel:
    """Native linearisation of one system for given numbers p. Not to be shared between threads.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time numbers.
    p : array, shape (n_p,)
        Their values.
    solver : {"auto", "dense", "recursive"}
        How ``M X = B`` is solved: by factors of M, or by recursion over the tree (`inverse.h`), which is quicker from
        `RECURSIVE_FROM` speeds on.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray, *, solver: Solver = "auto"):
        if solver not in ("auto", "dense", "recursive"):
            raise ModelError(f"linearisation: solver is {solver!r}, expected 'auto', 'dense' or 'recursive'")
        self.library = tree_library()
        tree, numbers = Tree.of(system), numeric_numbers(parameters, p)
        links = form_links(tree, numbers, np.zeros(1))
        self.elements = form_elements(links)
        self.speeds = tree.speeds.names
        self.n_q, self.n_v, self.n_u = len(tree.coordinates), len(tree.speeds), len(system.actuators)
        chosen: Solver = "recursive" if self.n_v >= RECURSIVE_FROM else "dense"
        self.solver: Solver = chosen if solver == "auto" else solver
        arrays = {
            **_element_arrays(self.elements),
            **environment_arrays(system, numbers),
            **input_arrays(system, tree, links, numbers, self.elements.link),
            **member_arrays(links, self.elements.link),
        }
        self._arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        counts = {
            "n_elements": len(self.elements.items),
            "n_q": self.n_q,
            "n_v": self.n_v,
            "n_u": self.n_u,
            "n_joint_inputs": len(arrays["joint_input"]),
            "n_body_inputs": len(arrays["body_input"]),
            "n_members": len(arrays["member"]),
            "gravity": gravity_number(system),
            "recursive": int(self.solver == "recursive"),
        }
        self._struct = ElementStruct(**counts, **{name: array.ctypes.data for name, array in self._arrays.items()})
        n = self.n_v
        sizes = np.zeros(3, dtype=np.int64)
        self.library.sc_linear_sizes(ctypes.addressof(self._struct), sizes.ctypes.data)
        self._room, self._work, self._rhs = (np.zeros(max(int(size), 1)) for size in sizes)
        self.q, self.v, self.u = (
            np.zeros(max(self.n_q, 1))[: self.n_q],
            np.zeros(n),
            np.zeros(max(self.n_u, 1))[: self.n_u],
        )
        self._block = np.zeros(n * (1 + 2 * n + self.n_u))
        self.terms = self._split(self._block)
        results = [self.terms.v_dot, self.terms.v_q, self.terms.v_v, self.terms.v_u]
        struct = ctypes.addressof(self._struct)
        own, given = [self._room, self._work, self._rhs], [self.q, self.v, self.u]
        #: addresses of struct, work arrays and results, for callers that pass q, v and u themselves
        self.addresses = [struct, *(array.ctypes.data for array in [*own, *results])]
        given_addresses = [struct, *(array.ctypes.data for array in [*own, *given, *results])]
        self._call = (ctypes.c_void_p * len(given_addresses))(*given_addresses)
        self._bound = BoundKernel(
            "linearise",
            ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("sc_linearise_call", self.library)),
            ctypes.addressof(self._call),
            {"q": self.q, "v": self.v, "u": self.u},
            results,
            keep=[self._call, self._struct, self._arrays, *own],
            good=-1,
            failed=partial(_singular, self.speeds),
            kind=LinearTerms,
        )
        self.run = self._bound.run

    def linearise(self, q: Any, v: Any, u: Any = ()) -> LinearTerms:
        """v_dot and its derivatives at a state.

        Parameters
        ----------
        q, v, u : arrays, shapes (n_q,), (n_v,), (n_u,)
            Coordinates, speeds, inputs. Contiguous arrays of floats are quickest.

        Raises
        ------
        ShapeError
            If q, v or u has another shape.
        SolverError
            If the mass matrix is not positive definite there; the message names the speed.
        """
        terms = self._bound.fast(q, v, u)
        result: LinearTerms = self._bound.checked(q, v, u) if terms is None else terms
        return result

    def _split(self, block: np.ndarray) -> LinearTerms:
        """The four results as views of one block."""
        n, a, b = self.n_v, self.n_v * (1 + self.n_v), self.n_v * (1 + 2 * self.n_v)
        return LinearTerms(
            block[:n], block[n:a].reshape(n, n), block[a:b].reshape(n, n), block[b:].reshape(n, self.n_u)
        )


def _singular(speeds: Sequence[str], bad: int) -> SolverError:
    return SolverError(f"nothing has inertia against speed '{speeds[bad]}' in this position: M is singular")


def _element_arrays(elements: Elements) -> dict[str, np.ndarray]:
    items = elements.items
    records = []
    for item in items:
        I = np.asarray(item.inertia.I_O)
        upper = [I[a, b] for a in range(3) for b in range(a, 3)]
        mass = [float(item.inertia.mass)]
        records.append(np.concatenate([np.ravel(item.X_PJ.R), item.X_PJ.p, mass, item.inertia.first, upper]))
    return {
        "kind": np.array([item.kind for item in items], dtype=np.intc),
        "parent": np.array([item.parent for item in items], dtype=np.intc),
        "q": np.array([item.q for item in items], dtype=np.intc),
        "v": np.array([item.v for item in items], dtype=np.intc),
        "records": np.array(records).reshape(-1, 22),
    }
