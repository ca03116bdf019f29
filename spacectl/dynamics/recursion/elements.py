"""Elementary joints of a tree as data for the native kernels: rotations about z, translations along z and free rotations.

A joint declares its elements (`Joint.elements`); links between the elements of one joint have no mass.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.core.errors import ModelError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.links import Link, Links, form_links
from spacectl.dynamics.recursion.tree_data import (
    DATA_ARRAYS,
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
    "SLIDE",
    "TURN",
    "Element",
    "ElementData",
    "ElementStruct",
    "Elements",
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


_COUNTS = ("n_elements", "n_q", "n_v", "n_u", "n_joint_inputs", "n_body_inputs", "n_members", "gravity",
           "recursive")  # fmt: skip


class ElementStruct(ctypes.Structure):
    """``sc_elements`` of element.h."""

    _fields_ = [(name, ctypes.c_longlong) for name in _COUNTS] + [(name, ctypes.c_void_p) for name in DATA_ARRAYS]


class ElementData:
    """Arrays behind an `ElementStruct`; they live as long as this object.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    recursive_from : int
        Number of speeds from which the linearisation solves by recursion, without forming M.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray, recursive_from: float = np.inf):
        self.library = tree_library()
        tree, numbers = Tree.of(system), numeric_numbers(parameters, p)
        links = form_links(tree, numbers, np.zeros(1))
        self.elements = form_elements(links)
        self.speeds = tree.speeds.names
        self.n_q, self.n_v, self.n_u = len(tree.coordinates), len(tree.speeds), len(system.actuators)
        self.is_recursive = self.n_v >= recursive_from
        arrays = {
            **_element_arrays(self.elements),
            **environment_arrays(system, numbers),
            **input_arrays(system, tree, links, numbers, self.elements.link),
            **member_arrays(links, self.elements.link),
        }
        self.arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        counts = {
            "n_elements": len(self.elements.items),
            "n_q": self.n_q,
            "n_v": self.n_v,
            "n_u": self.n_u,
            "n_joint_inputs": len(arrays["joint_input"]),
            "n_body_inputs": len(arrays["body_input"]),
            "n_members": len(arrays["member"]),
            "gravity": gravity_number(system),
            "recursive": int(self.is_recursive),
        }
        self._struct = ElementStruct(**counts, **{name: array.ctypes.data for name, array in self.arrays.items()})
        sizes = np.zeros(3, dtype=np.int64)
        self.library.sc_linear_sizes(ctypes.addressof(self._struct), sizes.ctypes.data)
        self._n_work = max(int(np.sum(sizes)), 1)

    def function(self, name: str, sizes_in: list[int], sizes_out: list[int]) -> NativeFunction:
        """Return a function of the library for these data, with a work array of its own."""
        entry = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0
        data = np.frombuffer(memoryview(self._struct).cast("B"), dtype=np.int64)
        return NativeFunction(entry, sizes_in, sizes_out, data, np.zeros(self._n_work), keep=[self])


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
