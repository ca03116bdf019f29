"""Named functions common to all formulations, built from the terms of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.labels import Labels
from spacectl.core.provenance import content_hash
from spacectl.dynamics.tree import outputs
from spacectl.dynamics.tree.chosen_speeds import ChosenSpeeds
from spacectl.dynamics.tree.outputs import output_labels, sensor_values
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.truncation.orders import TruncatedTerms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import EquationLabels, LazyFunctions
from spacectl.dynamics.waist.handover import Handover, Options
from spacectl.model.system import System

__all__ = ["CONSTRAINED_FUNCTIONS", "TREE_FUNCTIONS", "Builder", "form_shared", "form_terms", "solved_function"]

#: Names of the functions of a tree, and of a constrained system
TREE_FUNCTIONS = (
    *("q_dot", "mass_matrix", "bias", "input_map", "energy", "kinetic_by_part", "momentum", "center_of_mass"),
    *("placements", "sensors", "terms", "x_dot", "v_dot", "residual", "reactions", "outputs"),
)
CONSTRAINED_FUNCTIONS = (
    *TREE_FUNCTIONS,
    "constraints",
    "projection",
    "multipliers",
    "constraint_wrenches",
    "sides",
    "outputs_inner",
)


def form_terms(system: System, options: Options) -> Terms:
    """Return the terms of a system, truncated if a body has a truncated order."""
    return (TruncatedTerms if system.is_first_order else Terms)(system, options.vary)


class Builder:
    """Builds functions of the symbols of some terms: (t, q, v, u, p), or x in place of q and v.

    Parameters
    ----------
    terms : Terms
        Provide the symbols.
    u : symbols, optional
        Inputs, if not those of the terms.
    speeds : ChosenSpeeds, optional
        Speeds in place of those of the terms.
    """

    def __init__(self, terms: Terms, u: Any | None = None, speeds: ChosenSpeeds | None = None):
        self.terms, self.speeds = terms, speeds
        self.u = terms.u if u is None else u
        q, v = terms.q, terms.v
        self.x = ca.SX.sym("x", q.shape[0] + v.shape[0])
        self.symbols = {"t": terms.t, "q": q, "v": v, "u": self.u, "p": terms.p, "x": self.x, "v_dot": terms.v_dot}
        if speeds is not None:
            self.symbols |= {"v": speeds.w, "v_dot": speeds.w_dot}

    def of(self, name: str, arguments: str, *results: tuple[str, Any]) -> ca.Function:
        """Return a function of the arguments (names separated by blanks) with named, dense results."""
        keys = arguments.split()
        expressions = [ca.densify(value) for _, value in results]
        if self.speeds is not None:
            expressions = self.speeds.compose(expressions)
        if "x" in keys:
            q, v = self.terms.q, self.symbols["v"]
            expressions = ca.substitute(expressions, [q, v], [self.x[: q.shape[0]], self.x[q.shape[0] :]])
        if not self.terms.system.environment.is_steady:  # compute common expressions (the position on an orbit) once
            expressions = ca.cse(expressions)
        return ca.Function(name, [self.symbols[key] for key in keys], expressions, keys, [key for key, _ in results])

    def shared(self) -> dict[str, Callable[[], ca.Function]]:
        """Return the functions that do not depend on the solver for accelerations."""
        terms, of = self.terms, self.of
        dynamics = terms if self.speeds is None else self.speeds
        return {
            "q_dot": lambda: of("q_dot", "t q v p", ("q_dot", terms.q_dot)),
            "mass_matrix": lambda: of("mass_matrix", "t q p", ("M", dynamics.M)),
            "bias": lambda: of("bias", "t q v p", ("h", dynamics.h)),
            "input_map": lambda: of("input_map", "t q p", ("B_tau", dynamics.B_tau)),
            "energy": lambda: of(
                "energy", "t q v p", *zip(("kinetic", "potential"), outputs.energies(terms), strict=True)
            ),
            "kinetic_by_part": lambda: of("kinetic_by_part", "t q v p", ("kinetic", outputs.kinetic_by_part(terms))),
            "momentum": lambda: of("momentum", "t q v p", ("momentum", outputs.momentum(terms))),
            "center_of_mass": lambda: of(
                "center_of_mass", "t q p", ("center_of_mass", outputs.center_of_mass(terms)[0])
            ),
            "placements": lambda: of("placements", "t q p", ("placements", outputs.placements(terms))),
            "sensors": lambda: of("sensors", "t x p", ("y", sensor_values(terms, terms.system.sensors, v_dot=None))),
        }

    def outputs_inner(self) -> ca.Function:
        """Return y(t, x, u, v_dot, p) for given accelerations."""
        y = sensor_values(self.terms, self.terms.system.sensors, v_dot=self.terms.v_dot)
        return self.of("outputs_inner", "t x u v_dot p", ("y", y))

    def outputs(self, x_dot: ca.Function) -> ca.Function:
        """Return y(t, x, u, p), with accelerations from `x_dot`."""
        terms, inner = self.terms, self.outputs_inner()
        needs = inner.jac_sparsity(0, 3).nnz() > 0
        kind: Any = ca.MX if needs else ca.SX  # scalar expressions are faster if no accelerations are needed
        t, x, u, p = (kind.sym(key, self.symbols[key].shape[0]) for key in ("t", "x", "u", "p"))
        v_dot = x_dot(t, x, u, p)[terms.q.shape[0] :] if needs else kind.zeros(terms.v.shape[0])
        return ca.Function("outputs", [t, x, u, p], [inner(t, x, u, v_dot, p)], ["t", "x", "u", "p"], ["y"])


def solved_function(terms: ca.Function, wanted: str, solve: Callable[..., Any]) -> ca.Function:
    """Return x_dot(t, x, u, p), or the function `wanted` of (t, q, v, u, p), around "terms".

    Parameters
    ----------
    terms : casadi.Function
        (t, q, v, u, p) -> (q_dot, M, f, ...).
    wanted : str
        ``"x_dot"`` or the name of another result.
    solve : function
        (M, f, ...) -> v_dot, or the other result.
    """
    n_q, n_v, n_u, n_p = (terms.numel_in(i) for i in (1, 2, 3, 4))
    t, u, p, x = ca.MX.sym("t"), ca.MX.sym("u", n_u), ca.MX.sym("p", n_p), ca.MX.sym("x", n_q + n_v)
    is_of_state = wanted == "x_dot"
    q, v = (x[:n_q], x[n_q:]) if is_of_state else (ca.MX.sym("q", n_q), ca.MX.sym("v", n_v))
    q_dot, *matrices = terms(t, q, v, u, p)
    result = solve(*matrices)
    if is_of_state:
        return ca.Function("x_dot", [t, x, u, p], [ca.vertcat(q_dot, result)], ["t", "x", "u", "p"], ["x_dot"])
    return ca.Function(wanted, [t, q, v, u, p], [result], ["t", "q", "v", "u", "p"], [wanted])


def form_shared(
    terms: Terms,
    functions: dict[str, Callable[[], ca.Function]],
    *,
    formulation: str,
    options: Options,
    rebuild: tuple[Any, ...],
    inputs: tuple[str, ...] | None = None,
    speeds: ChosenSpeeds | None = None,
    handover: Handover | None = None,
    **more: Any,
) -> EquationsOfMotion:
    """Return equations of motion with given functions and the labels and parameters of the system."""
    system, tree = terms.system, terms.tree
    actuators = [a for a in system.actuators if inputs is None or a.input_name in inputs]
    labels = Labels(tuple(a.input_name for a in actuators), tuple(a.unit for a in actuators), "input")
    structure = [formulation, system.structure_hash(vary=options.vary), options.key]
    return EquationsOfMotion(
        system=system,
        formulation=formulation,
        labels=EquationLabels(
            tree.coordinates, tree.speeds if speeds is None else speeds.labels, labels, output_labels(system.sensors)
        ),
        parameters=system.parameters(vary=options.vary),
        functions=LazyFunctions(functions),
        quaternions=tree.quaternions,
        x_rest=np.concatenate([tree.rest(), np.zeros(len(tree.speeds))]),
        structure_hash=content_hash(structure),
        rebuild=rebuild,
        stats={"n_bodies": len(tree.nodes), "vary": options.vary},
        handover=Handover(vary=options.vary) if handover is None else handover,
        **more,
    )
