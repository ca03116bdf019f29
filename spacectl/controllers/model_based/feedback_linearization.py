"""Feedback linearisation: inputs that give every controlled speed the acceleration of a damped oscillator.

The laws of Sadigh (1995), chapter 6: full (Eq 6.3) with as many inputs as speeds, for constrained free-flying systems
in independent speeds (Eqs 6.4-6.6), and modified, by weighted least squares, for under-actuated systems (Eqs
6.11-6.15).
"""

from __future__ import annotations

from collections.abc import Callable
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
from spacectl.controllers.model_based.linearization_arguments import read_by_speed, read_speeds, read_weight
from spacectl.controllers.model_based.linearization_report import Linearization
from spacectl.controllers.model_based.model_inverse import (
    command_function,
    guard_terms,
    independent_rows,
    meet_rows,
    singular_side,
    solve_symmetric,
)
from spacectl.controllers.model_based.motion_reference import read_motion
from spacectl.core.control_law import LAW_INPUTS, LAW_OUTPUTS, ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.authority import Authority
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.models.tangent import subtract_states

__all__ = ["FeedbackLinearization", "ModifiedFeedbackLinearization"]

Symbols = tuple[Any, ...]
#: (t, q, v, p), (M, h, B_tau), a -> u, side of a singularity
Command = Callable[[Symbols, Symbols, Any], tuple[Any, Any]]

_CURE = "control other speeds (speeds=...) by other inputs (inputs=...), add actuators, or use ModifiedFeedbackLinearization"
_REPEATED = "some of them are dependent: omit one, or move an actuator"


class FeedbackLinearization(Linearization):
    """Exact linearisation: ``theta_ddot + 2 zeta omega theta_dot + omega^2 theta = 0`` for every controlled error theta.

    ``u = B_tau^-1 (M a + h)`` with ``a = a_ref - 2 zeta omega (v - v_ref) - omega^2 theta`` (Eq 6.3). With constraints
    the accelerations of the controlled speeds are imposed together with ``J v_dot = gamma`` (Eqs 6.4-6.6).

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant; the law has its own copy of the plant's parameters.
    frequency : float or mapping of str to float
        omega [rad/s], for all speeds or by speed.
    damping : float or mapping of str to float
        zeta, likewise.
    reference : None, state, mapping, Trajectory or callable
        See `read_motion`.
    speeds : tuple of str, optional
        The controlled speeds, as many as there are inputs; default: all of them.
    inputs : tuple of str, optional
        Inputs that the law commands; default: all of them. A closed loop may have more inputs than degrees of freedom.
    p : array, optional
        The law's copy of the plant's parameters, if it is to differ from those of the system.
    period : float
        Sampling period [s]; 0 means continuous.
    name : str
        Shown in results.

    Raises
    ------
    ModelError
        If the inputs cannot give the controlled speeds their accelerations; the message names the speeds and a remedy.
    """

    def __init__(
        self,
        eom: EquationsOfMotion,
        *,
        frequency: Any,
        damping: Any = 1.0,
        reference: Any = None,
        speeds: tuple[str, ...] | None = None,
        inputs: tuple[str, ...] | None = None,
        p: Any = None,
        period: float = 0.0,
        name: str = "feedback linearisation",
    ):
        require_equations(eom, "FeedbackLinearization")
        pushed = eom.inputs if inputs is None else tuple(inputs)
        chosen = read_speeds(eom, speeds, pushed, name)
        rows, columns = np.eye(eom.n_v)[list(eom.labels.v.indices(chosen))], list(eom.labels.u.indices(pushed))
        design = require_authority(
            eom,
            lambda M, B_tau, J, E: (rows, B_tau[:, columns], J, E),
            outputs=chosen,
            inputs=pushed,
            what=f"law '{name}'",
            cure=_CURE,
            p=p,
        )
        kind = {"kind": "feedback linearisation", "speeds": list(chosen)}
        why = lost_authority(chosen, pushed, _CURE)
        _make(
            self,
            eom,
            _exact(eom, chosen, pushed, design),
            pushed,
            frequency,
            damping,
            reference,
            p,
            period,
            name,
            kind,
            why,
        )


class ModifiedFeedbackLinearization(Linearization):
    """Feedback linearisation of an under-actuated system by least squares (Sadigh 1995, Eqs 6.11-6.15).

    u minimises ``(B_tau u - M a - h)' Q (B_tau u - M a - h)``: the residual moves the system through its
    zero dynamics; `report` has both. With ``Q = M^-1`` the condition is ``B_tau' v_dot = B_tau' a``: speeds that inputs
    act on directly are linearised exactly; the others are uncontrolled. Q = 1 (the thesis) does not ensure stability.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant, without constraints.
    frequency, damping, reference, p, period, name
        As for `FeedbackLinearization`.
    weight : "identity", "inverse mass", or matrix (n_v, n_v)
        Q. With ``"inverse mass"`` the accelerations are approximated in the metric of kinetic energy; with
        ``"identity"`` (the thesis) the forces are, whose units differ between speeds.
    """

    def __init__(
        self,
        eom: EquationsOfMotion,
        *,
        frequency: Any,
        damping: Any = 1.0,
        reference: Any = None,
        weight: Any = "inverse mass",
        p: Any = None,
        period: float = 0.0,
        name: str = "modified feedback linearisation",
    ):
        require_equations(eom, "ModifiedFeedbackLinearization")
        if eom.constraint_rows:
            raise ModelError(
                f"law '{name}': constraints are not supported; use FeedbackLinearization with selected speeds"
            )
        if eom.n_u == 0:
            raise ModelError(f"law '{name}': system '{eom.system.name}' has no inputs; add actuators")
        Q, along = read_weight(weight, eom.n_v, name), tuple(f"speed along {item}" for item in eom.inputs)
        design = require_authority(
            eom,
            lambda M, B_tau, J, E: (B_tau.T, B_tau, J, E),
            outputs=along,
            inputs=eom.inputs,
            what=f"law '{name}'",
            cure=_REPEATED,
            p=p,
        )
        why = lost_authority(along, eom.inputs, _REPEATED)
        kind = {"kind": "modified feedback linearisation", "weight": weight if isinstance(weight, str) else "matrix"}
        _make(
            self,
            eom,
            _least_squares(eom, Q, design),
            eom.inputs,
            frequency,
            damping,
            reference,
            p,
            period,
            name,
            kind,
            why,
        )


def _make(
    law: ControlLaw,
    eom: EquationsOfMotion,
    command: Command,
    inputs: tuple[str, ...],
    frequency: Any,
    damping: Any,
    reference: Any,
    p: Any,
    period: float,
    name: str,
    notes: dict[str, Any],
    undefined: str,
) -> None:
    """Set the fields of a law from the command that imposes given accelerations."""
    what = f"law '{name}'"
    motion = read_motion(eom, reference, what)
    omega, zeta = (
        read_by_speed(eom, value, key, what) for key, value in (("frequency", frequency), ("damping", damping))
    )
    numbers = eom.p if p is None else eom.check_parameters(p)
    n_r = motion.function.numel_in(1)
    inner = _command_function(eom, command, numbers.size)
    n_z = inner.numel_out(1) if period > 0.0 else 0
    t, x, y, z = ca.MX.sym("t"), ca.MX.sym("x", eom.n_x), ca.MX.sym("y", 0), ca.MX.sym("z", n_z)
    r, p_all = ca.MX.sym("r", n_r), ca.MX.sym("p", numbers.size + 2 * eom.n_v)
    p_plant, p_omega, p_zeta = ca.vertsplit(
        p_all, [0, numbers.size, numbers.size + eom.n_v, numbers.size + 2 * eom.n_v]
    )
    x_ref, a_ref = motion.function(t, r)
    error = _error_function(eom)(x, x_ref)
    theta, rate = error[: eom.n_v], error[eom.n_v :]
    a = a_ref - 2.0 * p_zeta * p_omega * rate - p_omega**2 * theta
    object.__setattr__(law, "_wanted", ca.Function("wanted", [t, x, r, p_all], [a]))
    object.__setattr__(law, "eom", eom)
    object.__setattr__(law, "controlled", tuple(notes.get("speeds", eom.speeds)))
    u, side = inner(t, x, a, p_plant)
    u, z_next = remember_side(u, side, z) if n_z else (u, z)
    results = [ca.densify(item) for item in (u, 0.0 * z, z_next)]
    function = ca.Function("law", [t, x, y, z, r, p_all], results, list(LAW_INPUTS), list(LAW_OUTPUTS))
    names = [eom.parameters.name_of(k) for k in range(numbers.size)]
    labels = [f"{name}[{k}]" for k, name in enumerate(names)]
    labels += [f"{key}.{speed}" for key in ("frequency", "damping") for speed in eom.speeds]
    ControlLaw.__init__(
        law,
        name=name,
        function=function,
        states=eom.labels.x,
        inputs=Labels(inputs, tuple(eom.labels.u.unit(item) for item in inputs), "input"),
        memory=Labels(SIDE[:n_z], (), "memory"),
        parameters=Labels(tuple(labels), (), "law parameter"),
        z0=np.zeros(n_z),
        p=np.concatenate([numbers, omega, zeta]),
        period=period,
        reference=motion.table,
        reference_rates=motion.table is not None,
        notes={**notes, "frequency": omega.tolist(), "damping": zeta.tolist()},
        undefined=undefined,
    )


def _error_function(eom: EquationsOfMotion) -> ca.Function:
    x, reference = ca.SX.sym("x", eom.n_x), ca.SX.sym("reference", eom.n_x)
    return ca.Function("error", [x, reference], [ca.densify(subtract_states(eom, x, reference))])


def _command_function(eom: EquationsOfMotion, command: Command, n_p: int) -> ca.Function:
    """Return a function (t, x, a, p) -> u and the side of a singularity (see `meet_rows`) as scalar expressions."""
    t, x, a, p = ca.SX.sym("t"), ca.SX.sym("x", eom.n_x), ca.SX.sym("a", eom.n_v), ca.SX.sym("p", n_p)
    q, v = x[: eom.n_q], x[eom.n_q :]
    f = eom.functions
    terms = f["mass_matrix"](t, q, p), f["bias"](t, q, v, p), ca.sparsify(f["input_map"](t, q, p))
    return command_function("command", [t, x, a, p], *command((t, q, v, p), terms, a))


def _exact(
    eom: EquationsOfMotion, chosen: tuple[str, ...], inputs: tuple[str, ...], design: Authority | None
) -> Command:
    """Return inputs that impose the accelerations of the selected speeds; free speeds and constraint forces follow."""
    places = [eom.labels.v.index(name) for name in chosen]
    columns = list(eom.labels.u.indices(inputs))
    held = independent_rows(eom) if eom.constraint_rows else []

    def command(symbols: Symbols, terms: Symbols, a: Any) -> tuple[Any, Any]:
        M, h, B_tau, C = terms[0], terms[1], terms[2][:, columns], ca.SX.eye(eom.n_v)[places, :]
        if not held and len(places) == eom.n_v:
            squares = guard_terms(C, B_tau, len(columns), M, symbols[1], design)
            return guard_command(ca.solve(B_tau, M @ a + h), squares), singular_side(B_tau)
        right, E = a[places], B_tau
        if held:
            t, q, v, p = symbols
            _, _, _, J, gamma, pushes = eom.functions["terms"](t, q, v, ca.SX.zeros(eom.n_u), p)
            C, right, E = ca.vertcat(C, J[held, :]), ca.vertcat(right, gamma[held]), ca.horzcat(E, pushes[:, held])
        y, squares, side = meet_rows(eom, M, -h, C, right, E)
        squares += guard_terms(C, E, len(columns), M, symbols[1], design)
        return guard_command(y[: len(columns)], squares), side

    return command


def _least_squares(eom: EquationsOfMotion, Q: np.ndarray | None, design: Authority | None) -> Command:
    """Solve ``(B' Q B) u = B' Q (M a + h)``; with Q = M^-1 this is ``B' v_dot = B' a``."""

    def command(symbols: Symbols, terms: Symbols, a: Any) -> tuple[Any, Any]:
        M, h, B_tau = terms
        squares = guard_terms(ca.SX.eye(eom.n_v), B_tau, eom.n_u, M, symbols[1], design)
        if Q is None:
            return guard_command(meet_rows(eom, M, -h, B_tau.T, B_tau.T @ a, B_tau)[0], squares), ca.SX(0, 1)
        left = B_tau.T @ ca.SX(ca.DM(Q))
        return guard_command(solve_symmetric(left @ B_tau, left @ (M @ a + h)), squares), ca.SX(0, 1)

    return command
