"""`LinearKernel`: v_dot and its exact derivatives in one native call, for any tree.

The derivative recursion resolves links into elementary joints: rotations about z, translations along z and
free rotations. A joint declares its elements (`Joint.elements`); links between the elements of one joint have
no mass.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from spacectl.codegen.binding import bind_native
from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.links import Link, Links, form_links
from spacectl.dynamics.recursion.tree_data import (
    environment_arrays,
    gravity_number,
    input_arrays,
    member_arrays,
    serves_tree,
)
from spacectl.dynamics.recursion.tree_kernel import tree_library
from spacectl.dynamics.tree.nodes import ROOT, Tree, numeric_numbers
from spacectl.model.joints import Joint
from spacectl.model.joints.base import BALL, SLIDE, TURN, JointSequence
from spacectl.model.system import System
from spacectl.spatial.inertia import Inertia, Placement

__all__ = [
    "BALL",
    "RECURSIVE_FROM",
    "SLIDE",
    "TURN",
    "Element",
    "ElementStruct",
    "Elements",
    "LinearKernel",
    "LinearTerms",
    "Solver",
    "form_elements",
    "serves_derivatives",
]


@dataclass(frozen=True)
class Element:
    """An elementary joint and its outboard link (massless except for the last of a joint).

    Parameters
    ----------
    kind : int
        `TURN`, `SLIDE` or `BALL`.
    parent : int
        Index of the parent element, or `ROOT`.
    X_PJ : Placement
        Of the joint's frame in the parent element's frame.
    q, v : int
        First coordinate and speed.
    inertia : Inertia
        About the element's frame.
    """

    kind: int
    parent: int
    X_PJ: Placement
    q: int
    v: int
    inertia: Inertia


@dataclass(frozen=True)
class Elements:
    """All elements (parents first), and for each link its last element and the link's frame F in it."""

    items: list[Element]
    link: list[tuple[int, Placement]]


_NONE = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def form_elements(links: Links) -> Elements:
    """Return the elements of numeric links."""
    items: list[Element] = []
    ends: list[tuple[int, Placement]] = []
    for link in links.items:
        parent, X_EF = (ROOT, Placement.identity(np.zeros(1))) if link.parent == ROOT else ends[link.parent]
        X = X_EF @ link.X_PJ
        sequence, R_last = _sequence(link)
        X_last = Placement(R_last, np.zeros(3))
        for k, (kind, turn, q, v) in enumerate(sequence):
            is_last = k == len(sequence) - 1
            inertia = link.inertia.seen_from(X_last) if is_last else _NONE
            at = X @ Placement(turn, np.zeros(3))
            items.append(Element(kind, parent, at, link.node.q.start + q, link.node.v.start + v, inertia))
            parent, X = len(items) - 1, Placement.identity(np.zeros(1))
        ends.append((parent, X_last))
    return Elements(items, ends)


def serves_derivatives(system: System) -> bool:
    """Return whether the derivative recursion supports a system: a plain tree of joints with elements."""
    return serves_tree(system) and all(_has_elements(part.joint) for part in system.tree if part.joint.speeds)


def _has_elements(joint: Joint) -> bool:
    return type(joint).elements is not Joint.elements and joint.owns("elements")


def _sequence(link: Link) -> JointSequence:
    joint = link.node.part.joint
    if not _has_elements(joint):
        kind = type(joint).__name__
        raise ModelError(f"the derivative recursion does not support {kind} joints; define {kind}.elements")
    return joint.elements(link.n)


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
        """Evaluate at the contents of q, v and u into `terms`; return 0 if M is positive definite."""
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
