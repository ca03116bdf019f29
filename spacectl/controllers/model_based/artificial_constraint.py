"""Tracking by artificial constraints (Sadigh 1995, chapter 7): selected actuators make outputs follow their path.

The other inputs are free for any other law. The thesis' law is open loop in the output; here the constraint error
also decays, ``g_ddot + 2 zeta omega g_dot + omega^2 g = 0``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.model_based.authority import (
    SIDE,
    guard_command,
    lost_authority,
    remember_side,
    require_authority,
)
from spacectl.controllers.model_based.model_inverse import command_function, guard_terms, independent_rows, meet_rows
from spacectl.controllers.model_based.tracking_report import TrackingReport, examine_path
from spacectl.core.control_law import LAW_INPUTS, LAW_OUTPUTS, ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.authority import Authority
from spacectl.dynamics.constraints.diagnosis import ConstraintReport, diagnose_constraints
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.linearize import linearize
from spacectl.linear.models.linear_model import LinearModel
from spacectl.model.constraints import AnyConstraint

__all__ = ["ArtificialConstraintTracking"]

_CURE = "choose other actuators (kind=Artificial(by=...)) or another path; law.examine(t, x) shows where they have authority"


class ArtificialConstraintTracking(ControlLaw):
    """Law whose inputs enforce artificial constraints, combined with any law for the other inputs.

    ``tau_c`` solves ``M v_dot = B u + B_c tau_c + J_n' lam - h``, ``J v_dot = gamma - 2 zeta omega g_dot - omega^2 g``.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant, with all its actuators and without the artificial constraints.
    constraints : tuple of Constraint
        Each with ``kind=Artificial(by=(...))``.
    others : ControlLaw, optional
        Law of other inputs; inputs without a law are zero.
    frequency, damping : float
        Frequency and damping ratio of the constraint errors [rad/s], [1]. ``frequency=0`` is the law of the thesis,
        which drifts.
    p : array, optional
        The law's copy of the plant's parameters, if it is to differ from those of the system.
    name : str
        Shown in results.

    Attributes
    ----------
    constrained : EquationsOfMotion
        The plant with the constraints, by the artificial formulation.
    others : ControlLaw or None
        The law of the other inputs.
    """

    def __init__(
        self,
        eom: EquationsOfMotion,
        *,
        constraints: tuple[AnyConstraint, ...],
        others: ControlLaw | None = None,
        frequency: float = 10.0,
        damping: float = 1.0,
        p: Any = None,
        name: str = "artificial constraints",
    ):
        require_equations(eom, "ArtificialConstraintTracking")
        given = tuple(constraints) if isinstance(constraints, (tuple, list)) else (constraints,)
        kept = _kept(given, others, name)
        system = replace(eom.system, constraints=(*eom.system.constraints, *given))
        constrained = form_equations(system, formulation="artificial")
        object.__setattr__(self, "constrained", constrained)
        object.__setattr__(self, "others", others)
        own = [
            k for k, row in enumerate(constrained.constraint_rows) if row.split(".")[0] in {item.name for item in given}
        ]
        rest = [k for k in range(len(constrained.constraint_rows)) if k not in own]
        outputs = tuple(constrained.constraint_rows[k] for k in own)
        design = require_authority(
            constrained,
            lambda M, B_tau, J, E: (J[own], E[:, own], J[rest], E[:, rest]),
            outputs=outputs,
            inputs=kept,
            what=f"law '{name}'",
            cure=_CURE,
            p=None,
        )
        numbers = constrained.parameters.taken_from(eom.parameters, None if p is None else eom.check_parameters(p))
        if frequency < 0.0 or damping < 0.0:
            raise ModelError(f"law '{name}': frequency and damping must be 0 or more")
        free = constrained.inputs
        period, n_z = (0.0, 0) if others is None else (others.period, len(others.memory))
        inner = _constraint_inputs(constrained, design)
        sides = (f"tracking.{SIDE[0]}",) if period > 0.0 and inner.numel_out(1) else ()
        memory = (Labels(kind="memory") if others is None else others.memory) + Labels(sides, (), "memory")
        measured = others.measurements if others is not None else Labels(kind="measurement")
        table = others.reference if others is not None else None
        n_r = 0 if others is None else others.function.numel_in(4)
        n_own = numbers.size + 2
        t, x = ca.MX.sym("t"), ca.MX.sym("x", eom.n_x)
        y, z, r = ca.MX.sym("y", len(measured)), ca.MX.sym("z", len(memory)), ca.MX.sym("r", n_r)
        p_all = ca.MX.sym("p", n_own + (0 if others is None else len(others.parameters)))
        command, z_dot, z_next = ca.MX.zeros(0), z[:n_z, :], z[:n_z, :]
        if others is not None:
            seen = [eom.labels.x.index(state) for state in others.states.names]
            command, z_dot, z_next = others.function(t, x[seen], y, z[:n_z, :], r, p_all[n_own:])
        by_name = {} if others is None else {item: command[k] for k, item in enumerate(others.inputs.names)}
        u_free = ca.vertcat(*[by_name.get(item, ca.MX(0.0)) for item in free]) if free else ca.MX(0, 1)
        n_p = numbers.size
        tau, side = inner(t, x, u_free, p_all[:n_p], p_all[n_p], p_all[n_p + 1])
        if sides:
            tau, after = remember_side(tau, side, z[n_z:, :])
            z_dot, z_next = ca.vertcat(z_dot, 0.0 * after), ca.vertcat(z_next, after)
        by_name |= {item: tau[k] for k, item in enumerate(constrained.constraint_inputs)}
        inputs = tuple(item for item in eom.inputs if item in by_name)
        u = ca.vertcat(*[by_name[item] for item in inputs])
        function = ca.Function(
            "law",
            [t, x, y, z, r, p_all],
            [ca.densify(item) for item in (u, z_dot, z_next)],
            list(LAW_INPUTS),
            list(LAW_OUTPUTS),
        )
        labels = [f"{constrained.parameters.name_of(k)}[{k}]" for k in range(numbers.size)] + [
            "tracking.frequency",
            "tracking.damping",
        ]
        labels += [] if others is None else [f"{others.name}.{item}" for item in others.parameters.names]
        p_others = np.zeros(0) if others is None else np.asarray(others.p)
        super().__init__(
            name=name,
            function=function,
            states=eom.labels.x,
            inputs=Labels(inputs, tuple(eom.labels.u.unit(item) for item in inputs), "input"),
            measurements=measured,
            memory=memory,
            parameters=Labels(tuple(labels), (), "law parameter"),
            z0=np.concatenate([np.zeros(0) if others is None else np.asarray(others.z0), np.zeros(len(sides))]),
            p=np.concatenate([numbers, [frequency, damping], p_others]),
            period=period,
            reference=table,
            reference_rates=others is not None and others.reference_rates,
            undefined=lost_authority(outputs, kept, _CURE),
            notes={
                "kind": "artificial constraints",
                "constraints": [item.name for item in given],
                "maintained by": list(kept),
                "others": "none" if others is None else others.name,
                "frequency": frequency,
                "damping": damping,
            },
        )

    constrained: EquationsOfMotion
    others: ControlLaw | None

    def examine(self, t: Any, x: Any, u: Any = None) -> TrackingReport:
        """Examine adequacy of the actuators and zero dynamics along a path, before a simulation.

        Parameters
        ----------
        t : array, shape (n_t,)
            Times [s].
        x : array, shape (n_t, n_x)
            States on the constraints (`make_consistent`); at rest, or those of a plan.
        u : array, shape (n_t, n_u), optional
            Inputs without a constraint, as in the plan; default zero.

        Returns
        -------
        TrackingReport
        """
        return examine_path(self.constrained, self.others, t, x, u, self.name)

    def check(self, t: float, x: Any) -> ConstraintReport:
        """Check whether the selected actuators can enforce the constraints at a state; return a report."""
        return diagnose_constraints(self.constrained, t, x)

    def zero_dynamics(self, x: Any, u: Any = None, *, t: float = 0.0) -> LinearModel:
        """Return the linear model of the motion that the constraints leave free, in independent states."""
        return linearize(self.constrained, x, u, t=t, check=False)


def _constraint_inputs(eom: EquationsOfMotion, design: Authority | None) -> ca.Function:
    """Return a function (t, x, u, p, frequency, damping) -> tau_c, and the side of a singularity (see `meet_rows`).

    The decay of errors is in the right-hand side of the artificial constraint equations. Natural constraints are in the
    same small system, without their dependent equations.
    """
    t, x, u, p = (ca.SX.sym(key, size) for key, size in (("t", 1), ("x", eom.n_x), ("u", eom.n_u), ("p", eom.p.size)))
    frequency, damping = ca.SX.sym("frequency"), ca.SX.sym("damping")
    q, v = x[: eom.n_q], x[eom.n_q :]
    _, M, f, J, gamma, E = eom.functions["terms"](t, q, v, u, p)
    position, speed, _, _, _ = eom.functions["constraints"](t, q, v, p)
    artificial = {item.name for item in eom.system.constraints if item.maintained_by}
    kept = [k for k, row in enumerate(eom.constraint_rows) if row.split(".")[0] in artificial]
    for k in kept:
        row = eom.constraint_rows[k]
        held = position[eom.position_rows.index(row)] if row in eom.position_rows else None
        decay = frequency * speed[k] if held is None else 2.0 * damping * frequency * speed[k] + frequency**2 * held
        gamma[k] = gamma[k] - decay
    has_natural = len(kept) < len(eom.constraint_rows)
    rows = kept + ([k for k in independent_rows(eom) if k not in kept] if has_natural else [])
    y, squares, side = meet_rows(eom, M, f, J[rows, :], gamma[rows], E[:, rows])
    squares += guard_terms(J[rows, :], E[:, rows], len(kept), M, q, design)
    tau = guard_command(y[: len(kept)], squares)
    return command_function("constraint_inputs", [t, x, u, p, frequency, damping], tau, side)


def _kept(constraints: tuple[AnyConstraint, ...], others: ControlLaw | None, name: str) -> tuple[str, ...]:
    if not constraints:
        raise ModelError(f"law '{name}': no constraints; give Constraint(..., kind=Artificial(by=('wrist',)))")
    kept: list[str] = []
    for item in constraints:
        if not item.maintained_by:
            raise ModelError(f"law '{name}': constraint '{item.name}' is natural; set kind=Artificial(by=(...))")
        kept += item.maintained_by
    if others is not None:
        both = [item for item in others.inputs.names if item in kept]
        if both:
            raise ModelError(
                f"law '{name}': input '{both[0]}' enforces a constraint and is also commanded by '{others.name}'; "
                "remove it from one of them"
            )
    return tuple(kept)
