"""`LinearKernel`: v_dot and its exact derivatives in one native call, for any tree."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.links import form_links
from spacectl.dynamics.native.elements import Elements, form_elements
from spacectl.dynamics.native.tree_data import environment_arrays, gravity_index, input_arrays, member_arrays
from spacectl.dynamics.native.tree_kernel import tree_library
from spacectl.dynamics.tree import Tree, numeric_numbers
from spacectl.model.system import System

__all__ = ["ElementStruct", "LinearKernel", "LinearTerms"]

_COUNTS = ("n_elements", "n_q", "n_v", "n_u", "n_joint_inputs", "n_body_inputs", "n_members", "gravity")
_ARRAYS = (
    "kind",
    "parent",
    "q",
    "v",
    "records",
    "root",
    "joint_input",
    "body_input",
    "body_data",
    "member",
    "member_data",
    "environment",
)


class ElementStruct(ctypes.Structure):
    """``sc_elements`` of derivatives.c."""

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
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray):
        self.library = tree_library()
        tree, numbers = Tree.of(system), numeric_numbers(parameters, p)
        links = form_links(tree, numbers, np.zeros(1))
        self.elements = form_elements(links)
        self.speeds = tree.speeds.names
        self.n_q, self.n_v, self.n_u = len(tree.coordinates), len(tree.speeds), len(system.actuators)
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
            "gravity": gravity_index(system),
        }
        self._struct = ElementStruct(**counts, **{name: array.ctypes.data for name, array in self._arrays.items()})
        n = self.n_v
        self._room = np.zeros(max(len(self.elements.items) * self.library.sc_element_size() // 8, 1))
        self._work = np.zeros(max(n * (n + 2) + 6 * counts["n_body_inputs"], 1))
        self._rhs = np.zeros(max(n * (2 * n + self.n_u), 1))
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
        entry = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(("sc_linearise_call", self.library))
        self.run = partial(entry, ctypes.c_void_p(ctypes.addressof(self._call)))

    def linearise(self, q: Any, v: Any, u: Any = ()) -> LinearTerms:
        """v_dot and its derivatives at a state.

        Raises
        ------
        SolverError
            If the mass matrix is not positive definite there; the message names the speed.
        """
        self.q[:] = q
        self.v[:] = v
        self.u[:] = u
        bad = self.run()
        if bad >= 0:
            raise SolverError(f"nothing has inertia against speed '{self.speeds[bad]}' in this position: M is singular")
        return self._split(self._block.copy())

    def _split(self, block: np.ndarray) -> LinearTerms:
        """The four results as views of one block."""
        n, a, b = self.n_v, self.n_v * (1 + self.n_v), self.n_v * (1 + 2 * self.n_v)
        return LinearTerms(
            block[:n], block[n:a].reshape(n, n), block[a:b].reshape(n, n), block[b:].reshape(n, self.n_u)
        )


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
