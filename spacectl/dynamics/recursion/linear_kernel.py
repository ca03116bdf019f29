"""`LinearKernel`: v_dot and its exact derivatives in one native call, for any tree."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from spacectl.codegen.binding import bind_native
from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.elements import Elements, form_elements
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.recursion.tree_data import environment_arrays, gravity_number, input_arrays, member_arrays
from spacectl.dynamics.recursion.tree_kernel import tree_library
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.model.system import System

__all__ = ["RECURSIVE_FROM", "ElementStruct", "LinearKernel", "LinearTerms", "Solver"]

RECURSIVE_FROM = 28  #: speeds from which recursion over the tree is faster than factors of M (measured)

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
    """Native linearisation of one system for given parameters p. Not to be shared between threads.

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
        n, sizes = self.n_v, np.zeros(3, dtype=np.int64)
        self.library.sc_linear_sizes(ctypes.addressof(self._struct), sizes.ctypes.data)
        #: (q, v, u) -> (v_dot, v_q, v_v, v_u)
        self.function = NativeFunction(
            ctypes.cast(self.library.sc_linearise_function, ctypes.c_void_p).value or 0,
            [self.n_q, n, self.n_u],
            [n, n * n, n * n, n * self.n_u],
            np.frombuffer(memoryview(self._struct).cast("B"), dtype=np.int64),
            np.zeros(max(int(np.sum(sizes)), 1)),
            keep=[self._struct, self._arrays],
        )
        bound = bind_native(self.function)
        self.q, self.v, self.u = bound.arguments
        self.terms = LinearTerms(
            bound.results[0], *(item.reshape(n, -1 if item.size else 0) for item in bound.results[1:])
        )
        self._call = NativeCall(
            "linearise",
            bound,
            {"q": self.q, "v": self.v, "u": self.u},
            self.terms,
            failed=partial(_singular, self.speeds),
            kind=LinearTerms,
        )

    @property
    def run(self) -> Callable[[], Any]:
        """Evaluate on what q, v and u hold, into `terms`, without copies; 0 if M is positive definite."""
        return self._call.run

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
        terms = self._call.fast(q, v, u)
        result: LinearTerms = self._call.checked(q, v, u) if terms is None else terms
        return result


def _singular(speeds: Sequence[str], code: int) -> SolverError:
    return SolverError(
        f"the mass matrix is singular: no body has inertia along speed '{speeds[code - 1]}' in this position"
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
