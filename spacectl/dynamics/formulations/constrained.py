"""Constrained formulations: functions around ``M v_dot = f + E lam``, ``J v_dot = gamma``.

A formulation is the choice of a solver for the accelerations (`dynamics.constraints.solvers`); names, residuals, multipliers
and reactions are common to all. Formulations without further code are in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.loads import all_efforts, constraint_loads, named_wrenches
from spacectl.dynamics.constraints.solver_function import AccelerationSolver, constrained_solve, shared_reactions
from spacectl.dynamics.constraints.terms import ConstraintTerms, rigid_compliances
from spacectl.dynamics.formulations.builders import Builder, form_shared, form_terms, solved_function
from spacectl.dynamics.formulations.switching import switch_equations
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import LazyFunctions
from spacectl.dynamics.waist.handover import Handover, Options, Reduction
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["SolverFactory", "form_artificial", "form_constrained", "form_multipliers", "form_udwadia_phohomsiri"]

#: Makes a solver, and further functions, from terms, constraints and the functions that need no accelerations
SolverFactory = Callable[
    [Terms, ConstraintTerms, Mapping[str, ca.Function]], tuple[AccelerationSolver, dict[str, Callable[[], ca.Function]]]
]


def form_constrained(
    system: System,
    *,
    options: Options,
    rebuild: tuple[Any, ...],
    formulation: str,
    solver: str | SolverFactory,
) -> EquationsOfMotion:
    """Form the equations of a constrained system with a solver of `dynamics.constraints.solvers` or another one.

    Parameters
    ----------
    system : System
        A system with constraints.
    options : Options
        Options of the formulation.
    rebuild : tuple
        Function and arguments that form the same equations in another process.
    formulation : str
        Its name.
    solver : str or function
        The solver for the accelerations: a key of `SOLVERS`, or a `SolverFactory`.
    """
    active = system.acting(options.active)
    maintaining = [name for item in active for name in item.maintained_by]
    if maintaining and solver != "directions":
        artificial = next(item.name for item in active if not item.is_natural)
        raise ModelError(
            f"system '{system.name}': constraint '{artificial}' is artificial, but {formulation} is for ideal constraints; "
            "use formulation='artificial' (or 'auto')"
        )
    _require_distinct(system, active)
    terms = form_terms(system, options)
    constraints = ConstraintTerms(terms, active)
    free = tuple(a.input_name for a in system.actuators if a.input_name not in maintaining)
    functions = LazyFunctions(_functions(terms, constraints, options, free))
    chosen, more = (solver, {}) if isinstance(solver, str) else solver(terms, constraints, functions)
    compliance = rigid_compliances(active)
    eom = form_shared(
        terms,
        {**functions.builders, **_solved_functions(terms, functions, chosen, compliance), **more},
        formulation=formulation,
        options=options,
        rebuild=rebuild,
        inputs=free,
        constraint_rows=constraints.names,
        position_rows=constraints.position_names,
        constraint_inputs=tuple(maintaining),
        handover=Handover(
            vary=options.vary,
            reduction=None if isinstance(chosen, str) else cast(Reduction, chosen),
            needs_independent_equations=solver == "kkt",
        ),
    )
    if options.switchable:
        if solver not in ("partition", "directions", "pseudoinverse"):
            raise ModelError(
                f"form_equations: {formulation} needs independent constraints and cannot switch them; use 'kane'"
            )
        return switch_equations(eom, constraints, lambda found, wanted: _solved(found, solver, wanted, compliance))
    return eom


def _require_distinct(system: System, active: tuple[AnyConstraint, ...]) -> None:
    """Raise if an actuator maintains two constraint equations, or if a joint and a loop have the same name."""
    owners: dict[str, str] = {}
    for item in active:
        for name in item.maintained_by:
            if name in owners:
                raise ModelError(
                    f"system '{system.name}': input '{name}' cannot maintain both '{owners[name]}' and '{item.name}' "
                    "(or two equations of one); name one actuator for each equation"
                )
            owners[name] = item.name
    joints = {part.joint_name for part in system.tree}
    for item in system.constraints:
        if item.closing_joint is not None and item.name in joints:
            raise ModelError(f"system '{system.name}': a joint and a loop are both called '{item.name}'; rename one")


def _functions(
    terms: Terms, constraints: ConstraintTerms, options: Options, free: tuple[str, ...]
) -> dict[str, Callable[[], ca.Function]]:
    """Return the functions that do not need the accelerations."""
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

    def equations(name: str, last: str, value: Callable[[], Any]) -> ca.Function:
        results = (("position", constraints.position), ("speed", constraints.speed), ("J", constraints.J))
        J_position = ca.jacobian(ca.jtimes(constraints.position, terms.q, terms.q_dot), terms.v)
        return build.of(name, "t q v p", *results, ("J_position", J_position), (last, value()))

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
        "constraints": lambda: equations("constraints", "gamma", lambda: constraints.gamma),
        "projection": lambda: equations("projection", "W", lambda: ca.jacobian(terms.q_dot, terms.v)),
        "residual": lambda: build.of("residual", "t q v p", ("g", ca.vertcat(constraints.position, constraints.speed))),
        "reactions": reactions,
        "constraint_wrenches": wrenches,
        "sides": lambda: build.of("sides", "t q p", ("sides", constraints.sides)),
        "outputs_inner": build.outputs_inner,
    }


def _solved_functions(
    terms: Terms, functions: Mapping[str, ca.Function], solver: str | AccelerationSolver, compliance: tuple[float, ...]
) -> dict[str, Callable[[], ca.Function]]:
    """Return the functions that need the accelerations."""

    def solved(wanted: str) -> ca.Function:
        return _solved(functions["terms"], solver, wanted, compliance)

    u = ca.SX.sym("u", functions["terms"].numel_in(3))
    return {
        "x_dot": lambda: solved("x_dot"),
        "v_dot": lambda: solved("v_dot"),
        "multipliers": lambda: solved("lam"),
        "outputs": lambda: Builder(terms, u).outputs(solved("x_dot")),
    }


def _solved(
    terms: ca.Function, solver: str | AccelerationSolver, wanted: str, compliance: tuple[float, ...]
) -> ca.Function:
    """Return x_dot(t, x, u, p), v_dot(t, q, v, u, p) or lam(t, q, v, u, p) around the terms."""

    def solve(M: Any, f: Any, J: Any, gamma: Any, E: Any) -> Any:
        v_dot, lam = constrained_solve(terms.numel_in(2), terms.numel_out(4), solver)(M, f, J, gamma, E)
        return shared_reactions(M, E, lam, compliance) if wanted == "lam" else v_dot

    return solved_function(terms, wanted, solve)


def form_multipliers(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form Newton-Euler equations with multipliers (000 Eq 41): ``[M, -J'; J, 0] [v_dot; lam] = [f; gamma]``.

    The natural constraints must be independent; ``options.stabilization`` adds Baumgarte's terms. In absolute coordinates every
    body moves freely and every joint is a constraint; in joint coordinates only loops and rules are.
    """
    return form_constrained(system, options=options, rebuild=rebuild, formulation="multipliers", solver="kkt")


def form_udwadia_phohomsiri(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form equations by Udwadia and Phohomsiri, ``v_dot = [(1 - A+ A) M; A]+ [f; b]`` (001 Eqs 21, 22).

    The coordinates may be redundant, the mass matrix singular, and the natural constraints dependent.
    """
    name = "udwadia_phohomsiri"
    return form_constrained(system, options=options, rebuild=rebuild, formulation=name, solver="pseudoinverse")


def form_artificial(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form equations with constraints maintained by actuators (003 chapter 3), and natural ones.

    The equations of motion are projected onto the directions without constraint force: with N' B_c = 0 the equations
    ``N' (M v_dot + h - B_tau u) = 0`` are Kane's equations with modified partial velocities (003 Eqs 3.9-3.35). Together with
    ``J v_dot = gamma`` they determine v_dot, and then the constraint inputs, which are the `multipliers` of artificial
    constraints.
    """
    return form_constrained(system, options=options, rebuild=rebuild, formulation="artificial", solver="directions")
