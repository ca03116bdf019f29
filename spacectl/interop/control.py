"""Equations of motion as a nonlinear system of python-control, with names, units and run-time parameters.

Linear models are converted by `LinearModel.to_control` and `LinearModel.from_control`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations

__all__ = ["to_nonlinear_control"]


def to_nonlinear_control(
    eom: EquationsOfMotion,
    *,
    outputs: Iterable[str] | None = None,
    p: Any = None,
    clip: bool = True,
    name: str = "",
) -> Any:
    """Return the plant as `control.NonlinearIOSystem`: ``x_dot = f(t, x, u; params)``, ``y = h(t, x, u; params)``.

    Names are those of the equations with ``_`` in place of the dot, which python-control reserves for subsystems; the
    system's docstring lists them with units. Parameters of the description are its ``params``, so
    ``control.input_output_response(plant, t, u, x0, params={"payload.mass": 80.0})`` needs no new equations.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    outputs : iterable of str, optional
        Sensor outputs or states by name; default: the sensors' outputs, or all states if there are none.
    p : array, optional
        Run-time parameters that are not in ``params``.
    clip : bool
        Whether inputs are clipped to the actuators' limits, as `simulate` does.
    name : str
        Name of the new system; default that of the system.

    Returns
    -------
    control.NonlinearIOSystem

    Raises
    ------
    ModelError
        If python-control is not installed.

    Notes
    -----
    A quaternion stays four states there. Its length is an invariant of the equations and drifts only by the
    integrator's error; start from ``eom.state(...)``, which has unit length. `control.linearize` differentiates all
    four entries and so adds a spurious state for each quaternion; use `spacectl.linearize(...).to_control()` for
    design.

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> to_nonlinear_control(form_equations(library.pendulum())).state_labels
    ['hinge', 'hinge_dot']
    """
    require_equations(eom, "to_nonlinear_control")
    try:
        control = import_module("control")
    except ImportError as error:
        raise ModelError(
            "to_nonlinear_control: python-control is not installed; install the package 'control'"
        ) from error
    default = eom.p if p is None else eom.check_parameters(p)
    names = (eom.labels.y.names or eom.states) if outputs is None else tuple(outputs)
    numbers = _Numbers(eom, default)
    places = [_place(eom, item) for item in names]
    is_sensed = any(letter == "y" for letter, _ in places)

    def rate(t: float, x: np.ndarray, u: np.ndarray, params: Mapping[str, Any]) -> np.ndarray:
        vector, low, high = numbers(params)
        return eom.x_dot(t, x, np.clip(u, low, high) if clip else u, vector)

    def output(t: float, x: np.ndarray, u: np.ndarray, params: Mapping[str, Any]) -> np.ndarray:
        vector, low, high = numbers(params)
        y = eom.outputs(t, x, np.clip(u, low, high) if clip else u, vector) if is_sensed else ()
        return np.array([y[k] if letter == "y" else x[k] for letter, k in places])

    units = [eom.labels.y.units[k] if letter == "y" else eom.labels.x.units[k] for letter, k in places]
    y_labels = Labels(names, tuple(units), "output")
    plain = {
        kind: [item.replace(".", "_") for item in labels.names]
        for kind, labels in (("states", eom.labels.x), ("inputs", eom.labels.u), ("outputs", y_labels))
    }
    title = (name or eom.system.name).replace(".", "_").replace(" ", "_")
    params = {item: _plain(eom.parameters.get(item, default)) for item in eom.parameters.names}
    system = control.NonlinearIOSystem(rate, output, **plain, name=title, dt=0, params=params)
    system.__doc__ = _describe(eom, y_labels, clip)
    return system


class _Numbers:
    """Convert ``params`` of python-control into p and the limits; cache the last result, since integrators ask repeatedly."""

    def __init__(self, eom: EquationsOfMotion, default: np.ndarray):
        self.eom, self.default = eom, default
        self.seen: dict[str, Any] | None = None
        self.answer: tuple[np.ndarray, np.ndarray, np.ndarray] = (default, *eom.limits(default))

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.seen is None or any(params.get(key) is not value for key, value in self.seen.items()):
            p = self._vector(params)
            self.seen = dict(params)
            self.answer = (self.eom.check_parameters(p), *self.eom.limits(p))
        return self.answer

    def _vector(self, params: Mapping[str, Any]) -> np.ndarray:
        """Return p by name; python-control passes all parameters, so only those that differ count as given."""
        known, changes = self.eom.parameters, {}
        for key, value in params.items():
            if key not in known or not np.array_equal(np.ravel(value), np.ravel(known.get(key, self.default))):
                changes[key] = value
        return known.vector(changes, self.default)


def _place(eom: EquationsOfMotion, name: str) -> tuple[str, int]:
    for letter, labels in (("y", eom.labels.y), ("x", eom.labels.x)):
        if name in labels:
            return letter, labels.index(name)
    raise ModelError(f"to_nonlinear_control: {unknown_name('output', name, (*eom.labels.y.names, *eom.states))}")


def _plain(value: np.ndarray) -> Any:
    return float(value) if value.shape == () else np.array(value)


def _describe(eom: EquationsOfMotion, outputs: Labels, clip: bool) -> str:
    """Return names and units of states, inputs, outputs and parameters, and a remark on quaternions."""
    lines = [f"Equations of motion of '{eom.system.name}' by {eom.formulation}; SI units, angles in radians."]
    for title, labels in (("States", eom.labels.x), ("Inputs", eom.labels.u), ("Outputs", outputs)):
        summary = ", ".join(
            f"{n.replace('.', '_')} [{unit}]" for n, unit in zip(labels.names, labels.units, strict=True)
        )
        lines.append(f"{title}: {summary or 'none'}.")
    low, high = eom.limits()
    limits = [
        f"{n} {a:g} to {b:g}" for n, a, b in zip(eom.inputs, low, high, strict=True) if np.isfinite(a) or np.isfinite(b)
    ]
    if clip and limits:
        lines.append(f"Inputs are clipped: {', '.join(limits)} (as the parameters say).")
    if eom.quaternions:
        firsts = ", ".join(eom.states[k].replace(".", "_") for k in eom.quaternions)
        lines.append(
            f"Unit quaternions, scalar first, start at {firsts}: four states with one invariant, their length; "
            "linearise with spacectl.linearize to have three attitude errors instead."
        )
    lines.append(f"Parameters (params): {', '.join(eom.parameters.names)}.")
    return "\n".join(lines)
