"""Kane's method for trees in joint speeds (003 chapters 2 and 4).

Forms ``M v_dot + h = B_tau u`` from the shared terms and solves it with a factorisation of the symmetric positive
definite M outside the expression graph.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.labels import Labels
from spacectl.core.provenance import content_hash
from spacectl.dynamics import energy
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.functions import EquationLabels, LazyFunctions
from spacectl.dynamics.orders import TruncatedTerms, is_truncated
from spacectl.dynamics.outputs import output_labels, sensor_values
from spacectl.dynamics.terms import Terms
from spacectl.model.system import System

__all__ = ["form_kane"]


def form_kane(system: System, *, vary: tuple[str, ...], rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations of a tree in joint speeds.

    ``M v_dot + h = B_tau u`` with M and h from 003 Eqs 2.12, kinematics from 003 Eqs 4.5-4.20.

    Parameters
    ----------
    system : System
        A tree.
    vary : tuple of str
        Numbers freed from structure.
    rebuild : tuple
        How another process forms the same equations (for pickling).
    """
    terms = TruncatedTerms(system, vary) if is_truncated(system) else Terms(system, vary)
    tree = terms.tree
    inputs = Labels(tuple(a.input_name for a in system.actuators), tuple(a.unit for a in system.actuators), "input")
    return EquationsOfMotion(
        system=system,
        formulation="kane",
        labels=EquationLabels(tree.coordinates, tree.speeds, inputs, output_labels(system.sensors)),
        parameters=system.parameters(vary=vary),
        functions=LazyFunctions(_builders(terms)),
        quaternions=tree.quaternions,
        x_rest=np.concatenate([tree.rest(), np.zeros(len(tree.speeds))]),
        structure_hash=content_hash(["kane", system.structure_hash(vary=vary)]),
        rebuild=rebuild,
        stats={"n_bodies": len(tree.nodes), "vary": vary},
    )


def _builders(terms: Terms) -> dict[str, Any]:
    t, q, v, u, p = terms.t, terms.q, terms.v, terms.u, terms.p
    x = ca.SX.sym("x", q.shape[0] + v.shape[0])
    split = {"q": x[: q.shape[0]], "v": x[q.shape[0] :]}

    def of(name: str, arguments: dict[str, Any], *results: tuple[str, Any]) -> ca.Function:
        expressions = [ca.densify(value) for _, value in results]
        return ca.Function(name, list(arguments.values()), expressions, list(arguments), [key for key, _ in results])

    def of_state(name: str, arguments: dict[str, Any], *results: tuple[str, Any]) -> ca.Function:
        """The same with x in place of q and v."""
        expressions = ca.substitute([value for _, value in results], [q, v], [split["q"], split["v"]])
        return of(name, arguments, *((key, item) for (key, _), item in zip(results, expressions, strict=True)))

    tq, tqv = {"t": t, "q": q, "p": p}, {"t": t, "q": q, "v": v, "p": p}
    tqvu = {"t": t, "q": q, "v": v, "u": u, "p": p}

    def solve_terms() -> ca.Function:
        return of("terms", tqvu, ("q_dot", terms.q_dot), ("M", terms.M), ("f", terms.B_tau @ u - terms.h))

    # a truncated mass matrix is not symmetric: no native factorisation serves it
    solver = "qr" if isinstance(terms, TruncatedTerms) else "ldl"
    native = {} if solver == "qr" else {"terms": solve_terms}
    return {
        **native,
        "x_dot": lambda: _solved(solve_terms(), split_state=True, solver=solver),
        "v_dot": lambda: _solved(solve_terms(), split_state=False, solver=solver),
        "q_dot": lambda: of("q_dot", tqv, ("q_dot", terms.q_dot)),
        "mass_matrix": lambda: of("mass_matrix", tq, ("M", terms.M)),
        "bias": lambda: of("bias", tqv, ("h", terms.h)),
        "input_map": lambda: of("input_map", tq, ("B_tau", terms.B_tau)),
        "energy": lambda: of("energy", tqv, *zip(("kinetic", "potential"), energy.energies(terms), strict=True)),
        "kinetic_by_part": lambda: of("kinetic_by_part", tqv, ("kinetic", energy.kinetic_by_part(terms))),
        "momentum": lambda: of("momentum", tqv, ("momentum", energy.momentum(terms))),
        "center_of_mass": lambda: of("center_of_mass", tq, ("center_of_mass", energy.center_of_mass(terms)[0])),
        "placements": lambda: of("placements", tq, ("placements", energy.placements(terms))),
        "residual": lambda: of("residual", tqv, ("g", ca.SX(0, 1))),
        "reactions": lambda: of(
            "reactions",
            {"t": t, "q": q, "v": v, "u": u, "v_dot": terms.v_dot, "p": p},
            ("reactions", ca.horzcat(*terms.joint_wrenches).T),
        ),
        "sensors": lambda: of_state(
            "sensors", {"t": t, "x": x, "p": p}, ("y", sensor_values(terms, terms.system.sensors, v_dot=None))
        ),
        "outputs": lambda: _outputs(terms, of_state, x),
    }


def _solved(terms: ca.Function, *, split_state: bool, solver: str) -> ca.Function:
    """``v_dot = M^-1 f`` (and x_dot) around the terms: the factorisation is a kernel, differentiated implicitly."""
    n_q, n_v, n_u, n_p = terms.numel_in(1), terms.numel_in(2), terms.numel_in(3), terms.numel_in(4)
    t, u, p = ca.MX.sym("t"), ca.MX.sym("u", n_u), ca.MX.sym("p", n_p)
    x = ca.MX.sym("x", n_q + n_v)
    q, v = (x[:n_q], x[n_q:]) if split_state else (ca.MX.sym("q", n_q), ca.MX.sym("v", n_v))
    q_dot, M, f = terms(t, q, v, u, p)
    v_dot = ca.densify(ca.solve(M, f, solver) if n_v else f)
    if split_state:
        return ca.Function("x_dot", [t, x, u, p], [ca.vertcat(q_dot, v_dot)], ["t", "x", "u", "p"], ["x_dot"])
    return ca.Function("v_dot", [t, q, v, u, p], [v_dot], ["t", "q", "v", "u", "p"], ["v_dot"])


def _outputs(terms: Terms, of_state: Any, x: Any) -> ca.Function:
    """y(t, x, u, p); accelerations come from the solved equations."""
    t, u, p = terms.t, terms.u, terms.p
    y = sensor_values(terms, terms.system.sensors, v_dot=terms.v_dot)
    inner = of_state("outputs_inner", {"t": t, "x": x, "u": u, "v_dot": terms.v_dot, "p": p}, ("y", y))
    x_dot = _builders(terms)["x_dot"]()
    T, X, U, P = ca.MX.sym("t"), ca.MX.sym("x", x.shape[0]), ca.MX.sym("u", u.shape[0]), ca.MX.sym("p", p.shape[0])
    v_dot = x_dot(T, X, U, P)[terms.q.shape[0] :] if ca.depends_on(y, terms.v_dot) else ca.MX.zeros(terms.v.shape[0])
    return ca.Function("outputs", [T, X, U, P], [inner(T, X, U, v_dot, P)], ["t", "x", "u", "p"], ["y"])
