"""Kane's method in joint and modal speeds (003 chapters 2 to 4).

Forms ``M v_dot + h = B_tau u`` from the shared terms and solves it with a factorisation of the symmetric positive
definite M outside the expression graph; natural constraints are met by independent speeds.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.constraints.terms import active_constraints
from spacectl.dynamics.formulations.builders import Builder, form_shared, form_terms
from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.tree.chosen_speeds import ChosenSpeeds
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.truncation.orders import TruncatedTerms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.options import Options
from spacectl.model.system import System

__all__ = ["form_kane"]


def form_kane(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Equations in joint and modal speeds.

    ``M v_dot + h = B_tau u`` with M and h from 003 Eqs 2.12, kinematics from 003 Eqs 4.5-4.20; with natural constraints
    ``A_c' (M v_dot + h - B_tau u) = 0`` and ``J v_dot = gamma`` (003 section 3.3).

    Parameters
    ----------
    system : System
        A tree, with natural constraints or none.
    options : Options
        Choices.
    rebuild : tuple
        How another process forms the same equations (for pickling).
    """
    if active_constraints(system, options.active):
        return form_constrained(system, options=options, rebuild=rebuild, formulation="kane", road="partition")
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
    # a truncated mass matrix is not symmetric: no native factorisation serves it
    solver = "qr" if isinstance(terms, TruncatedTerms) else "ldl"

    def solve_terms() -> ca.Function:
        force = dynamics.B_tau @ terms.u - dynamics.h
        return build.of("terms", "t q v u p", ("q_dot", terms.q_dot), ("M", dynamics.M), ("f", force))

    def x_dot() -> ca.Function:
        return _solved(solve_terms(), split_state=True, solver=solver)

    return {
        **build.shared(),
        **chosen,
        **({} if solver == "qr" else {"terms": solve_terms}),
        "x_dot": x_dot,
        "v_dot": lambda: _solved(solve_terms(), split_state=False, solver=solver),
        "residual": lambda: build.of("residual", "t q v p", ("g", ca.SX(0, 1))),
        "reactions": lambda: build.of(
            "reactions", "t q v u v_dot p", ("reactions", ca.horzcat(*terms.joint_wrenches()).T)
        ),
        "outputs": lambda: build.outputs(x_dot()),
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
