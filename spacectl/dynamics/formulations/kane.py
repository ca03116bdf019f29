"""Kane's method in joint and modal speeds (003 chapters 2 to 4).

The equations ``M v_dot + h = B_tau u`` of the shared terms are solved by a factorisation of the symmetric positive definite M
outside the expression graph. Natural constraints are satisfied by a choice of independent speeds.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.formulations.builders import Builder, form_shared, form_terms, solved_function
from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.tree.chosen_speeds import ChosenSpeeds
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.truncation.orders import TruncatedTerms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.handover import Options
from spacectl.model.system import System

__all__ = ["form_kane"]


def form_kane(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form equations in joint and modal speeds.

    ``M v_dot + h = B_tau u`` with M and h from 003 Eqs 2.12, kinematics from 003 Eqs 4.5-4.20; with natural constraints
    ``A_c' (M v_dot + h - B_tau u) = 0`` and ``J v_dot = gamma`` (003 section 3.3).

    Parameters
    ----------
    system : System
        A tree, with natural constraints or none.
    options : Options
        Options of the formulation.
    rebuild : tuple
        Function and arguments that form the same equations in another process (for pickling).
    """
    if system.acting(options.active):
        return form_constrained(system, options=options, rebuild=rebuild, formulation="kane", solver="partition")
    terms = form_terms(system, options)
    speeds = ChosenSpeeds(terms, dict(options.speeds)) if options.speeds else None
    functions = _functions(terms, speeds)
    return form_shared(terms, functions, formulation="kane", options=options, rebuild=rebuild, speeds=speeds)


def _functions(terms: Terms, speeds: ChosenSpeeds | None) -> dict[str, Any]:
    build = Builder(terms, speeds=speeds)
    dynamics = terms if speeds is None else speeds
    chosen = (
        {}
        if speeds is None
        else {"joint_speeds": lambda: build.of("joint_speeds", "t q v p", ("joint_speeds", terms.v))}
    )
    # a truncated mass matrix is not symmetric, for which there is no native factorisation
    solver = "qr" if isinstance(terms, TruncatedTerms) else "ldl"

    def solve_terms() -> ca.Function:
        force = dynamics.B_tau @ terms.u - dynamics.h
        return build.of("terms", "t q v u p", ("q_dot", terms.q_dot), ("M", dynamics.M), ("f", force))

    def x_dot() -> ca.Function:
        return _solved(solve_terms(), "x_dot", solver)

    return {
        **build.shared(),
        **chosen,
        **({} if solver == "qr" else {"terms": solve_terms}),
        "x_dot": x_dot,
        "v_dot": lambda: _solved(solve_terms(), "v_dot", solver),
        "residual": lambda: build.of("residual", "t q v p", ("g", ca.SX(0, 1))),
        "reactions": lambda: build.of(
            "reactions", "t q v u v_dot p", ("reactions", ca.horzcat(*terms.joint_wrenches()).T)
        ),
        "outputs": lambda: build.outputs(x_dot()),
    }


def _solved(terms: ca.Function, wanted: str, solver: str) -> ca.Function:
    """Return ``v_dot = M^-1 f`` (or x_dot) around the terms; CasADi differentiates the factorisation implicitly."""
    return solved_function(terms, wanted, lambda M, f: ca.densify(ca.solve(M, f, solver) if f.shape[0] else f))
