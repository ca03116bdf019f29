"""`linearize_along`: linearise equations of motion about a motion, as a linear time-varying model.

The state is the same error state as in `linearize`, taken about a moving reference; inputs that jump split the result
into smooth pieces. `tangent` derives the rate of an attitude error about a rotating reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.linearize import choose_inputs, joint_speed_rows, linear_outputs, term_source
from spacectl.linear.models.linear_trajectory import LinearTrajectory
from spacectl.linear.models.reference import Reference, read_reference
from spacectl.linear.models.tangent import constraint_manifold, error_labels, tangent_rate, turning_rates

__all__ = ["linearize_along"]


def linearize_along(
    eom: EquationsOfMotion,
    reference: Any,
    *,
    u: Any = None,
    x_dot: Any = None,
    breaks: Iterable[float] = (),
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    disturbances: Iterable[str] = (),
    p: Any = None,
) -> LinearTrajectory:
    """Linearise the equations about a motion: a linear time-varying model of small deviations.

    The error state is that of `linearize`: rotation vectors in body axes of the moving reference, differences else.
    Without `x_dot` the reference is assumed to be a solution of the equations, and the drift c is zero. With
    `x_dot`, c is the residual: (speeds of the reference minus those its coordinates move with; v_dot(x, u) minus
    the rate of its speeds); an attitude whose speeds differ from its rate of rotation has ``-1/2 (v + Omega)~`` in A
    instead of ``-v~``.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    reference : Trajectory of all states, (t, x, u), or anything with fields t, x and u such as a Simulation
        Times (n_t,), states (n_t, n_x) and inputs (n_t, n_u). A time may occur twice: inputs before and after
        a jump.
    u : Trajectory of inputs by name, or array, shape (n_t, n_u), optional
        Inputs for a Trajectory of states (default zero). One that is constant between its knots (``"previous"``) has
        a jump at each knot where it changes, which must be a time of the reference.
    x_dot : array, shape (n_t, n_x), optional
        Rates of the reference, for one that does not satisfy the equations (a plan of another model).
    breaks : iterable of float
        Further times of the reference at which inputs jump; before it, the input of the preceding time continues. For
        simulations with sampled laws, whose records contain the inputs just after each sample.
    inputs, outputs, disturbances : iterables of str
        As in `linearize`.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    LinearTrajectory

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.pendulum())
    >>> swing = linearize_along(eom, ([0.0, 1.0], [[0.0, 2.0], [0.5, 1.0]], [[0.0], [0.0]]))
    >>> swing.at(1.0).x.names
    ('hinge', 'hinge_dot')
    """
    require_equations(eom, "linearize_along")
    motion = read_reference(eom, reference, u=u, x_dot=x_dot, breaks=breaks)
    n, n_t = eom.n_v, motion.t.size
    commanded, pushing = choose_inputs(eom, inputs, disturbances)
    source = term_source(eom, p)
    A, B = np.zeros((n_t, 2 * n, 2 * n)), np.zeros((n_t, 2 * n, eom.n_u))
    v_dot = np.zeros((n_t, n))
    q, v = motion.x[:, : eom.n_q], motion.x[:, eom.n_q :]
    for k in range(n_t):
        v_dot[k], A[k, n:, :n], A[k, n:, n:], B[k, n:] = source(float(motion.t[k]), q[k], v[k], motion.u[k])
    A[:, :n, n:] = np.eye(n)
    A[:, :n, :n], drift = _kinematics(eom, motion, v_dot)
    if "joint_speeds" in eom.functions:
        if x_dot is not None:
            raise ModelError(
                "linearize_along: x_dot is not supported with user-defined speeds; give a motion that satisfies the equations"
            )
        for k in range(n_t):
            A[k, :n] = joint_speed_rows(eom, float(motion.t[k]), q[k], v[k], p)
    C, D, y = linear_outputs(eom, motion.t, motion.x, motion.u, p, outputs)
    columns, pushes = list(eom.labels.u.indices(commanded)), list(eom.labels.u.indices(pushing))
    return LinearTrajectory(
        t=motion.t,
        A=A,
        B=B[:, :, columns],
        C=C,
        D=D[:, :, columns],
        E=B[:, :, pushes],
        drift=drift,
        x=error_labels(eom),
        u=commanded,
        y=y,
        d=pushing,
        x_reference=motion.x,
        u_reference=motion.u,
        quaternions=eom.quaternions,
        tangent=constraint_manifold(eom, motion.t[-1], q[-1], v[-1], p) if eom.constraint_rows else None,
    )


def _kinematics(eom: EquationsOfMotion, motion: Reference, v_dot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return T in ``theta_dot = T theta + dv + ...``, shape (n_t, n_v, n_v), and the drift, shape (n_t, 2 n_v)."""
    q, v = motion.x[:, : eom.n_q], motion.x[:, eom.n_q :]
    if motion.x_dot is None:
        return tangent_rate(eom, v), np.zeros((len(v), 2 * eom.n_v))
    turning = turning_rates(eom, q, motion.x_dot[:, : eom.n_q])
    missed = np.hstack([v - turning, v_dot - motion.x_dot[:, eom.n_q :]])
    return tangent_rate(eom, 0.5 * (v + turning)), missed
