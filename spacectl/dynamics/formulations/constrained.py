"""What the constrained formulations share: functions around ``M v_dot = f + E lam``, ``J v_dot = gamma``.

A formulation is the choice of a road to the accelerations (`dynamics.constraints.solvers`); names, residuals, multipliers and
reactions are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.loads import all_efforts, constraint_loads, named_wrenches
from spacectl.dynamics.constraints.sharing import rigid_compliances
from spacectl.dynamics.constraints.solver_function import Road, constrained_solve, shared_reactions
from spacectl.dynamics.constraints.terms import ConstraintTerms, active_constraints
from spacectl.dynamics.formulations.builders import Builder, form_shared, form_terms
from spacectl.dynamics.formulations.switching import switch_equations
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import LazyFunctions
from spacectl.dynamics.waist.handover import Handover
from spacectl.dynamics.waist.options import Options
from spacectl.dynamics.waist.reduction import Reduction
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["RoadMaker", "form_constrained"]

#: Makes a road, and more functions, from terms, constraints and the functions that need no road
RoadMaker = Callable[
    [Terms, ConstraintTerms, Mapping[str, ca.Function]], tuple[Road, dict[str, Callable[[], ca.Function]]]
]


def form_constrained(
    system: System,
    *,
    options: Options,
    rebuild: tuple[Any, ...],
    formulation: str,
    road: str | RoadMaker,
) -> EquationsOfMotion:
    """Equations of a constrained system by one of the roads of `dynamics.constraints.solvers`.

    Parameters
    ----------
    system : System
        With constraints.
    options : Options
        Choices.
    rebuild : tuple
        How another process forms the same equations.
    formulation : str
        Its name.
    road : str or function
        The road to the accelerations: a name, or what makes one.
    """
    active = active_constraints(system, options.active)
    kept = [name for item in active for name in item.maintained_by]
    if kept and road != "directions":
        artificial = next(item.name for item in active if not item.is_natural)
        raise ModelError(
            f"system '{system.name}': constraint '{artificial}' is artificial, but {formulation} is for ideal constraints; "
            "use formulation='artificial' (or 'auto')"
        )
    _require_distinct(system, active)
    terms = form_terms(system, options)
    constraints = ConstraintTerms(terms, active)
    free = tuple(a.input_name for a in system.actuators if a.input_name not in kept)
    functions = LazyFunctions(_functions(terms, constraints, options, free))
    taken, more = (road, {}) if isinstance(road, str) else road(terms, constraints, functions)
    compliance = rigid_compliances(active)
    eom = form_shared(
        terms,
        {**functions.builders, **_solved_functions(terms, functions, taken, compliance), **more},
        formulation=formulation,
        options=options,
        rebuild=rebuild,
        inputs=free,
        constraint_rows=constraints.names,
        position_rows=constraints.position_names,
        constraint_inputs=tuple(kept),
        handover=Handover(
            vary=options.vary,
            reduction=None if isinstance(taken, str) else cast(Reduction, taken),
            needs_independent_equations=road == "kkt",
        ),
    )
    if options.switchable:
        if road not in ("partition", "directions", "pseudoinverse"):
            raise ModelError(f"form_equations: {formulation} needs independent rows and cannot switch them; use 'kane'")
        return switch_equations(eom, constraints, lambda found, wanted: _solved(found, road, wanted, compliance))
    return eom


def _require_distinct(system: System, active: tuple[AnyConstraint, ...]) -> None:
    """No actuator keeps two things, and no name means both a joint and a loop."""
    owners: dict[str, str] = {}
    for item in active:
        for name in item.maintained_by:
            if name in owners:
                raise ModelError(
                    f"system '{system.name}': input '{name}' cannot keep both '{owners[name]}' and '{item.name}' "
                    "(or two rows of one); name one actuator for each condition"
                )
            owners[name] = item.name
    joints = {part.joint_name for part in system.tree}
    for item in system.constraints:
        if item.closing_joint is not None and item.name in joints:
            raise ModelError(f"system '{system.name}': a joint and a loop are both called '{item.name}'; rename one")


def _functions(
    terms: Terms, constraints: ConstraintTerms, options: Options, free: tuple[str, ...]
) -> dict[str, Callable[[], ca.Function]]:
    """Everything that does not need the accelerations."""
    inputs = [actuator.input_name for actuator in terms.system.actuators]
    u = ca.SX.sym("u", len(free))
    build = Builder(terms, u)
    columns = [inputs.index(name) for name in free]
    B_tau = terms.B_tau[:, columns] if columns else ca.SX(terms.v.shape[0], 0)
    stabilization = options.stabilization
    gamma = (
        constraints.gamma if stabilization is None else constraints.stabilised(stabilization.alpha, stabilization.beta)
    )

    def solve_terms() -> ca.Function:
        results = (("q_dot", terms.q_dot), ("M", terms.M), ("f", B_tau @ u - terms.h), ("J", constraints.J))
        return build.of("terms", "t q v u p", *results, ("gamma", gamma), ("E", constraints.E))

    def rows() -> ca.Function:
        results = (("position", constraints.position), ("speed", constraints.speed), ("J", constraints.J))
        held = ca.jacobian(ca.jtimes(constraints.position, terms.q, terms.q_dot), terms.v)
        return build.of("constraints", "t q v p", *results, ("J_position", held), ("gamma", constraints.gamma))

    def projection() -> ca.Function:
        held = ca.jacobian(ca.jtimes(constraints.position, terms.q, terms.q_dot), terms.v)
        results = (("position", constraints.position), ("speed", constraints.speed), ("J", constraints.J))
        W = ca.jacobian(terms.q_dot, terms.v)
        return build.of("projection", "t q v p", *results, ("J_position", held), ("W", W))

    def reactions() -> ca.Function:
        lam = ca.SX.sym("lam", len(constraints.names))
        efforts = all_efforts(constraints, free, u, lam)
        wrenches = ca.horzcat(*terms.joint_wrenches(constraint_loads(constraints, efforts, lam))).T
        (wrenches,) = ca.substitute([ca.densify(wrenches)], [terms.u], [efforts])
        given = [build.symbols[key] for key in ("t", "q", "v", "u", "v_dot", "p")] + [lam]
        return ca.Function(
            "reactions",
            given,
            [wrenches],
            ["t", "q", "v", "u", "v_dot", "p", "lam"],
            ["reactions"],
        )

    def wrenches() -> ca.Function:
        lam = ca.SX.sym("lam", len(constraints.names))
        found = named_wrenches(constraints, all_efforts(constraints, free, u, lam), lam)
        given = [build.symbols[key] for key in ("t", "q", "v", "u")] + [lam, terms.p]
        return ca.Function("constraint_wrenches", given, [found], ["t", "q", "v", "u", "lam", "p"], ["wrenches"])

    everything = build.shared()
    everything["input_map"] = lambda: build.of("input_map", "t q p", ("B_tau", B_tau))
    return {
        **everything,
        "terms": solve_terms,
        "constraints": rows,
        "projection": projection,
        "residual": lambda: build.of("residual", "t q v p", ("g", ca.vertcat(constraints.position, constraints.speed))),
        "reactions": reactions,
        "constraint_wrenches": wrenches,
        "sides": lambda: build.of("sides", "t q p", ("sides", constraints.sides)),
        "outputs_inner": build.outputs_inner,
    }


def _solved_functions(
    terms: Terms, functions: Mapping[str, ca.Function], road: str | Road, compliance: tuple[float, ...]
) -> dict[str, Callable[[], ca.Function]]:
    """What needs the accelerations."""

    def solved(wanted: str) -> ca.Function:
        return _solved(functions["terms"], road, wanted, compliance)

    u = ca.SX.sym("u", functions["terms"].numel_in(3))
    return {
        "x_dot": lambda: solved("x_dot"),
        "v_dot": lambda: solved("v_dot"),
        "multipliers": lambda: solved("lam"),
        "outputs": lambda: Builder(terms, u).outputs(solved("x_dot")),
    }


def _solved(terms: ca.Function, road: str | Road, wanted: str, compliance: tuple[float, ...]) -> ca.Function:
    """x_dot(t, x, u, p), v_dot(t, q, v, u, p) or the multipliers around the terms."""
    n_q, n_v, n_u, n_p = (terms.numel_in(i) for i in (1, 2, 3, 4))
    m = terms.numel_out(4)
    t, u, p = ca.MX.sym("t"), ca.MX.sym("u", n_u), ca.MX.sym("p", n_p)
    x = ca.MX.sym("x", n_q + n_v)
    q, v = (x[:n_q], x[n_q:]) if wanted == "x_dot" else (ca.MX.sym("q", n_q), ca.MX.sym("v", n_v))
    q_dot, M, f, J, gamma, E = terms(t, q, v, u, p)
    v_dot, lam = constrained_solve(n_v, m, road)(M, f, J, gamma, E)
    if wanted == "x_dot":
        return ca.Function("x_dot", [t, x, u, p], [ca.vertcat(q_dot, v_dot)], ["t", "x", "u", "p"], ["x_dot"])
    result = v_dot if wanted == "v_dot" else shared_reactions(M, E, lam, compliance)
    return ca.Function(wanted, [t, q, v, u, p], [result], ["t", "q", "v", "u", "p"], [wanted])
