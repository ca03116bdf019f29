"""The recursion's steps for one link, as C functions generated from the same formulas as the unrolled code.

For every joint kind there is an outward step (placement, twist, bias), an inward step (eliminate the joint's speeds)
and an acceleration step; for environments with their own gravity there is a load step. They do not depend on the model: one
small library is shared by all trees. steps.c is the text for the kinds of spacectl itself; if a user has registered others, it is
generated anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import emit_step
from spacectl.dynamics.recursion.sweeps import Elimination, LinkMotion, accelerate, eliminate, move
from spacectl.model.environment import ENVIRONMENTS, Environment, has_field_of
from spacectl.model.joints import JOINTS, Joint
from spacectl.spatial.backend import dot, skew
from spacectl.spatial.inertia import ArticulatedInertia, Inertia, Placement, move_twist, pull_wrench

__all__ = [
    "RECORD",
    "StepKind",
    "generate_steps",
    "gravity_index",
    "has_step",
    "has_written_kinds",
    "joint_record",
    "kind_name",
    "step_kinds",
    "written_steps",
]

_EXTRA = 6  # entries for the joint's parameters
#: Entries of a link's record: R_PJ (9), p_PJ (3), mass, first moment (3), inertia xx xy xz yy yz zz, joint parameters
RECORD = 9 + 3 + 1 + 3 + 6 + _EXTRA

_UPPER = [(i, j) for i in range(3) for j in range(i, 3)]


@dataclass(frozen=True)
class StepKind:
    """Name of a kind of step; its numbers of coordinates, speeds and stored entries of S."""

    name: str
    n_q: int
    n_v: int
    n_s: int


def kind_name(joint: Joint) -> str:
    """Return the name of the kind of step for a joint."""
    return "".join([type(joint).__name__, *map(str, joint.structure)])


def has_step(joint: Joint) -> bool:
    """Return whether there is a generated step for a joint: a subclass of a known kind may move differently."""
    return type(_examples().get(kind_name(joint))) is type(joint)


def joint_record(joint: Joint, n: Mapping[str, Any]) -> list[Any]:
    """Return the parameters of a joint in the order of its record, without its axis, z of its frame."""
    return [np.ravel(n[key]) for key in _recorded(joint)]


def _recorded(joint: Joint) -> list[str]:
    return [key for key in joint.numbers() if not (joint.is_axial and key == "axis")]


@cache
def _examples() -> dict[str, Joint]:
    """Return one joint for each kind of step."""
    joints = (joint for kind in JOINTS.values() for joint in kind.examples() if joint.speeds)
    fitting = (joint for joint in joints if sum(part.size for part in joint_record(joint, _values(joint))) <= _EXTRA)
    return {kind_name(joint): joint for joint in fitting}


def _values(joint: Joint) -> dict[str, np.ndarray]:
    return {key: np.asarray(number.value) for key, number in joint.numbers().items()}


@cache
def gravities() -> dict[str, Environment]:
    """Return an example of each kind of environment with gravity as a time-independent load on the bodies."""
    examples = {name: kind(**kind.example) for name, kind in ENVIRONMENTS.items() if _pulls(kind)}
    return {name: example for name, example in examples.items() if example.is_steady}


def _pulls(kind: type[Environment]) -> bool:
    return kind.gravity_wrench is not Environment.gravity_wrench


def gravity_index(environment: Environment) -> int | None:
    """Return the index of the gravity among `gravities`: -1 if it is no load, None if it has no step."""
    if not environment.is_steady:
        return None
    if not _pulls(type(environment)):
        return -1
    known = (i for i, item in enumerate(gravities().values()) if has_field_of(environment, type(item)))
    return next(known, None)


@cache
def has_written_kinds() -> bool:
    """Return whether the kinds of joints and gravity are those of steps.c."""
    known = [*_examples().values(), *gravities().values()]
    are_own = all(type(item).__module__.startswith("spacectl.") for item in known)
    return are_own and [*_examples()] == _table("sc_out") and [*gravities()] == _table("sc_load")


@cache
def _table(table: str) -> list[str]:
    """Return the entries of a table of steps.c, without their prefix."""
    found = re.search(rf" {table}\[\] = {{(.*)}};", written_steps())
    entries = found.group(1).split(", ") if found else []
    return [entry.removeprefix(f"{table}_") for entry in entries]


@cache
def step_kinds() -> tuple[StepKind, ...]:
    """Return all kinds, in the order of the C tables."""
    if has_written_kinds():
        sizes = [int(size) for size in _table("sc_subspace")]
    else:
        sizes = [steps[0].nnz_out(1) for steps in _functions().values()]
    return tuple(
        StepKind(name, len(joint.coordinates), len(joint.speeds), size)
        for (name, joint), size in zip(_examples().items(), sizes, strict=True)
    )


@cache
def _functions() -> dict[str, list[ca.Function]]:
    return {name: _joint_steps(joint) for name, joint in _examples().items()}


def written_steps() -> str:
    """Return the text of steps.c: the steps for the kinds of spacectl itself."""
    return c_source(__package__, "steps.c")


@cache
def generate_steps() -> str:
    """Generate the C text of all steps and of the tables that list them by kind."""
    functions = [function for steps in _functions().values() for function in steps]
    functions += [function for name, example in gravities().items() for function in _gravity_steps(name, example)]
    tables = []
    for step in ("out", "inward", "accelerate", "follow", "project", "rate"):
        names = ", ".join(f"sc_{step}_{name}" for name in _examples())
        tables.append(f"static const sc_step sc_{step}[] = {{{names}}};")
    for table in ("sc_load", "sc_load_gradient"):
        tables.append(f"static const sc_step {table}[] = {{{', '.join(f'{table}_{name}' for name in gravities())}}};")
    for table, values in (
        ("speeds", [len(joint.speeds) for joint in _examples().values()]),
        ("subspace", [steps[0].nnz_out(1) for steps in _functions().values()]),
    ):
        tables.append(f"static const int sc_{table}[] = {{{', '.join(map(str, values))}}};")
    head = "#include <math.h>\ntypedef void (*sc_step)(const double *const *a, double *const *r);\n"
    return head + "\n".join([*(emit_step(function, function.name()) for function in functions), *tables]) + "\n"


def _joint_steps(joint: Joint) -> list[ca.Function]:
    """Return the steps of one joint kind; a constant S is part of the code, others are stored."""
    n_v = len(joint.speeds)
    sym = ca.SX.sym
    q, v, v_dot, record, parent = (
        sym("q", len(joint.coordinates)),
        sym("v", n_v),
        sym("v_dot", n_v),
        sym("record", RECORD),
        sym("parent", 6),
    )
    link = _link(joint, record)
    motion = move(link, q, v, parent)
    S_out = ca.vertcat(*motion.S)
    is_constant = not ca.depends_on(S_out, ca.vertcat(q, record))
    S_s = sym("S", 0 if is_constant else 6 * n_v)
    S = motion.S if is_constant else [S_s[6 * k : 6 * k + 6] for k in range(n_v)]
    X_s, c_s, w_s = sym("X", 12), sym("c", 6), sym("w", 6)
    seen = LinkMotion(_placement(X_s), S, None, c_s)
    bias_wrench = link.inertia.bias_wrench(motion.twist)
    name = kind_name(joint)
    outward = [_pack(motion.X), ca.SX(0, 1) if is_constant else S_out, motion.twist, motion.bias]
    out = _function(
        f"sc_out_{name}",
        [q, v, record, parent],
        [*outward, pack_inertia(ArticulatedInertia.of(link.inertia)), bias_wrench],
    )

    I_s, tau = sym("I", 21), sym("tau", n_v)
    eliminated = eliminate(unpack_inertia(I_s), w_s, seen, tau)
    inward = _function(
        f"sc_inward_{name}",
        [I_s, w_s, X_s, S_s, c_s, tau],
        [
            ca.vertcat(*eliminated.U),
            ca.vertcat(*eliminated.D_inv),
            ca.vertcat(*eliminated.force),
            pack_inertia(eliminated.inertia.seen_from(seen.X)),
            pull_wrench(seen.X, eliminated.wrench),
        ],
    )

    U_s, D_inv, f_s = sym("U", 6 * n_v), sym("D_inv", n_v), sym("f", n_v)
    known = Elimination(
        [U_s[6 * k : 6 * k + 6] for k in range(n_v)],
        ca.vertsplit(D_inv),
        ca.vertsplit(f_s),
        eliminated.inertia,
        eliminated.wrench,
    )
    A, rates = accelerate(seen, known, parent)
    accelerated = _function(f"sc_accelerate_{name}", [parent, X_s, S_s, c_s, U_s, D_inv, f_s], [A, ca.vertcat(*rates)])

    A_id = move_twist(seen.X, parent) + c_s
    for k in range(n_v):
        A_id = A_id + S[k] * v_dot[k]
    follow = _function(
        f"sc_follow_{name}", [parent, X_s, S_s, c_s, v_dot, record, w_s], [A_id, link.inertia @ A_id + w_s]
    )
    project = _function(
        f"sc_project_{name}", [w_s, X_s, S_s], [ca.vertcat(*[dot(s, w_s) for s in S]), pull_wrench(seen.X, w_s)]
    )
    return [out, inward, accelerated, follow, project, _function(f"sc_rate_{name}", [q, v], [joint.q_dot(q, v)])]


def _gravity_steps(name: str, example: Environment) -> list[ca.Function]:
    """Load of one member, (X_NF, X_FB, mass com inertia, environment parameters) -> wrench about F, and its derivative.

    The derivative (6, 6) is by a displacement twist d of F: ``R_NF (1 + d_omega~)``, ``p_NF + R_NF d_v``.
    """
    X_NF, X_FB, body, d = ca.SX.sym("X_NF", 12), ca.SX.sym("X_FB", 12), ca.SX.sym("body", 10), ca.SX.sym("d", 6)
    numbers = {key: ca.SX.sym(key, number.value.size) for key, number in example.numbers().items()}
    X = _placement(X_FB)
    properties = (body[0], body[1:4], _symmetric_matrix(body[4:]))
    moved = _placement(X_NF) @ Placement(ca.SX(ca.DM.eye(3)) + skew(d[:3]), d[3:])
    wrench = pull_wrench(X, example.gravity_wrench(0.0, moved @ X, properties, numbers))
    here, gradient = ca.substitute([wrench, ca.jacobian(wrench, d)], [d], [ca.SX.zeros(6)])
    arguments = [X_NF, X_FB, body, ca.vertcat(*numbers.values())]
    return [
        _function(f"sc_load_{name}", arguments, [here]),
        _function(f"sc_load_gradient_{name}", arguments, [gradient]),
    ]


def _link(joint: Joint, record: Any) -> Any:
    """Return a link, with the fields that `move` reads, whose parameters are the entries of a record."""
    mass, first, inertia, extra = record[12], record[13:16], record[16:22], record[22:28]
    n: dict[str, Any] = {"axis": ca.SX(ca.DM([0.0, 0.0, 1.0]))} if joint.is_axial else {}
    at, sizes = 0, {key: value.size for key, value in _values(joint).items()}
    for key in _recorded(joint):
        n[key], at = extra[at : at + sizes[key]], at + sizes[key]
    body = Inertia(mass, first, _symmetric_matrix(inertia))
    return SimpleNamespace(
        node=SimpleNamespace(part=SimpleNamespace(joint=joint)), X_PJ=_placement(record), n=n, inertia=body
    )


def _function(name: str, arguments: list[Any], results: list[Any]) -> ca.Function:
    return ca.Function(name, arguments, [ca.densify(ca.vec(result)) for result in results])


def _placement(flat: Any) -> Placement:
    return Placement(ca.reshape(flat[:9], 3, 3).T, flat[9:12])


def _pack(X: Placement) -> Any:
    return ca.vertcat(*[X.R[i, j] for i in range(3) for j in range(3)], X.p)


def _symmetric_matrix(six: Any) -> Any:
    entry = {pair: six[k] for k, pair in enumerate(_UPPER)}
    return ca.vertcat(*[ca.horzcat(*[entry[min(i, j), max(i, j)] for j in range(3)]) for i in range(3)])


def pack_inertia(inertia: ArticulatedInertia) -> Any:
    A, C = ([block[i, j] for i, j in _UPPER] for block in (inertia.A, inertia.C))
    return ca.vertcat(*A, *[inertia.B[i, j] for i in range(3) for j in range(3)], *C)


def unpack_inertia(flat: Any) -> ArticulatedInertia:
    return ArticulatedInertia(
        _symmetric_matrix(flat[:6]), ca.reshape(flat[6:15], 3, 3).T, _symmetric_matrix(flat[15:21])
    )
