"""`campbell`: modes of a system over a sweep of a speed, an input or a parameter.

At every value the operating point is found and linearised; `tracking` connects the eigenvalues to branches. The result
names crossings with engine orders and instabilities, and is a figure as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.linear.analysis.tracking import Branches, track_poles
from spacectl.linear.linearize import linearize
from spacectl.linear.operating_point import OperatingPoint, find_operating_point
from spacectl.linear.sweeps.campbell_result import Campbell, Crossing, Instability

__all__ = ["campbell"]


def campbell(
    eom: EquationsOfMotion,
    sweep: Mapping[str, Iterable[float]],
    *,
    orders: Iterable[float] = (),
    point: Mapping[str, Any] | None = None,
    tolerance: float = 1e-6,
    p: Any = None,
) -> Campbell:
    """Compute the modes over a sweep of one quantity, each followed by its shape.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    sweep : mapping of one name to values
        A speed (``"rotor_dot"``), an input, or a parameter; an entry of an array as ``"body.inertia[2]"``. Values
        increase or decrease monotonically.
    orders : iterable of float
        Engine orders k, whose lines ``frequency = k |value|`` are crossed; for speeds in rad/s.
    point : mapping, optional
        Further arguments of `find_operating_point`: q, v, u, free, guess. The search at each value starts at the
        preceding point.
    tolerance : float
        Growth rate above which a mode counts as unstable, and size below which it counts as rigid, relative to the
        largest eigenvalue.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    Campbell

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> found = campbell(form_equations(library.pendulum()), {"rod.mass": [1.0, 2.0, 4.0]})
    >>> found.frequency[:, 0].round(3)  # more mass, the same inertia about its centre
    array([3.835, 4.1  , 4.255])
    """
    require_equations(eom, "campbell")
    if len(sweep) != 1:
        raise ModelError(f"campbell: sweep names {len(sweep)} quantities, expected one: {{'rotor_dot': values}}")
    name, raw = next(iter(sweep.items()))
    values = np.asarray(list(raw), dtype=float)
    steps = np.diff(values)
    if values.size < 2 or not (np.all(steps > 0.0) or np.all(steps < 0.0)):
        raise ModelError(
            f"campbell: the values of '{name}' must increase or decrease monotonically, and be two or more"
        )
    wanted = tuple(float(order) for order in orders)
    unit = _unit(eom, name)
    if wanted and unit not in ("rad/s", "1"):
        raise ModelError(f"campbell: engine orders need a speed in rad/s, but '{name}' is in {unit}")
    points: list[OperatingPoint] = []
    models = []
    options = dict(point or {})
    for value in values:
        numbers, fixed = _settings(eom, name, float(value), p, options)
        if points:
            fixed["guess"] = np.asarray(points[-1].x)
        points.append(find_operating_point(eom, p=numbers, **fixed))
        models.append(linearize(eom, points[-1], outputs=(), p=numbers))
    branches = track_poles([np.asarray(model.A) for model in models])
    kept = _half(branches)
    poles, correlation = branches.poles[:, kept], branches.correlation[:, kept]
    shapes = branches.right[:, kept]
    largest = np.take_along_axis(shapes, np.argmax(np.abs(shapes), axis=2)[:, :, None], axis=2)
    size = np.abs(poles)
    scale = max(float(np.max(size, initial=0.0)), np.finfo(float).tiny)
    names = _names(models[0].x, np.abs(branches.left[:, kept] * shapes), eom.n_v)
    frequency = np.abs(poles.imag)
    is_rigid = tuple(bool(flag) for flag in np.all(size <= tolerance * scale, axis=0))
    return Campbell(
        sweep=name,
        unit=unit,
        values=values,
        poles=poles,
        frequency=frequency,
        damping=np.where(size > tolerance * scale, -poles.real / np.maximum(size, np.finfo(float).tiny), 0.0),
        correlation=correlation,
        shapes=shapes / largest,
        names=names,
        is_rigid=is_rigid,
        x=models[0].x,
        points=tuple(points),
        orders=wanted,
        crossings=_crossings(values, frequency, names, is_rigid, wanted),
        instabilities=_instabilities(values, poles, names, tolerance * scale),
    )


def _entry(name: str) -> tuple[str, int | None]:
    """Split ``"body.inertia[2]"`` into the parameter and the index of its entry."""
    match = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return (match[1], int(match[2])) if match else (name, None)


def _unit(eom: EquationsOfMotion, name: str) -> str:
    for labels in (eom.labels.v, eom.labels.u):
        if name in labels:
            return labels.unit(name)
    if eom.parameters.is_physical(name):
        return "1"
    parameter, entry = _entry(name)
    if parameter not in eom.parameters.names:
        known = (*eom.speeds, *eom.inputs, *eom.parameters.names)
        raise ModelError(f"campbell: {unknown_name('speed, input or parameter', name, known)}")
    count = int(np.prod(eom.parameters.shape(parameter)))
    if (entry is None and count > 1) or (entry or 0) >= count:
        raise ModelError(f"campbell: parameter '{parameter}' has {count} entries; write '{parameter}[0]' for the first")
    return "1"


def _settings(
    eom: EquationsOfMotion, name: str, value: float, p: Any, options: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return parameters and arguments of `find_operating_point` at one value."""
    numbers, fixed = np.array(eom.parameters.of(p)), dict(options)
    if name in eom.labels.v or name in eom.labels.u:
        letter = "v" if name in eom.labels.v else "u"
        fixed[letter] = {**dict(fixed.get(letter) or {}), name: value}
        return numbers, fixed
    if eom.parameters.is_physical(name):
        given = {**p, name: value} if isinstance(p, Mapping) else {name: value}
        return eom.check_parameters(eom.parameters.vector(given, None if isinstance(p, Mapping) else p)), fixed
    parameter, entry = _entry(name)
    numbers[eom.parameters.where(parameter).start + (entry or 0)] = value
    return eom.check_parameters(numbers), fixed


def _half(branches: Branches) -> list[int]:
    """Return branches in the upper half plane, and real ones; slowest first."""
    total = np.sum(branches.poles.imag, axis=0)
    limit = 1e-12 * max(float(np.max(np.abs(branches.poles), initial=0.0)), np.finfo(float).tiny)
    upper = [k for k in range(branches.poles.shape[1]) if total[k] >= -limit]
    return sorted(upper, key=lambda k: (abs(branches.poles[0, k].imag), abs(branches.poles[0, k].real)))


def _names(x: Labels, shares: np.ndarray, n_v: int) -> tuple[str, ...]:
    """Return number and leading coordinates of each mode: coordinate and speed count together, over the whole sweep."""
    weights = shares / np.maximum(np.sum(shares, axis=2, keepdims=True), np.finfo(float).tiny)
    mean = np.mean(weights, axis=0)
    by_coordinate = mean[:, :n_v] + mean[:, n_v:]
    names = []
    for k, row in enumerate(by_coordinate):
        leading = [i for i in np.argsort(-row, kind="stable")[:2] if row[i] > 0.2 * np.max(row)]
        names.append(f"{k + 1} ({', '.join(x.names[i] for i in leading)})")
    return tuple(names)


def _crossings(
    values: np.ndarray,
    frequency: np.ndarray,
    names: tuple[str, ...],
    is_rigid: tuple[bool, ...],
    orders: tuple[float, ...],
) -> tuple[Crossing, ...]:
    """Return the roots of ``frequency - order |value|`` on cubic splines through each branch."""
    found = []
    ascending = values if values[-1] > values[0] else values[::-1]
    for k, name in enumerate(names):
        column = frequency[:, k] if values[-1] > values[0] else frequency[::-1, k]
        if is_rigid[k]:
            continue
        spline = make_interp_spline(ascending, column, k=min(3, len(values) - 1))
        for order in orders:
            gap = column - order * np.abs(ascending)
            for i in np.flatnonzero(gap[:-1] * gap[1:] < 0.0):
                value = brentq(lambda s: float(spline(s)) - order * abs(s), ascending[i], ascending[i + 1])  # noqa: B023
                found.append(Crossing(mode=k, name=name, order=order, value=value, frequency=order * abs(value)))
    return tuple(sorted(found, key=lambda item: item.value))


def _instabilities(
    values: np.ndarray, poles: np.ndarray, names: tuple[str, ...], limit: float
) -> tuple[Instability, ...]:
    """Return runs of neighbouring values at which a branch grows."""
    found = []
    for k, name in enumerate(names):
        grows = np.concatenate([[False], poles[:, k].real > limit, [False]])
        edges = np.flatnonzero(np.diff(grows.astype(int)))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            worst = a + int(np.argmax(poles[a:b, k].real))
            kind = "flutter" if abs(poles[worst, k].imag) > limit else "divergence"
            low, high = sorted((float(values[a]), float(values[b - 1])))
            found.append(
                Instability(
                    mode=k,
                    name=name,
                    low=low,
                    high=high,
                    growth=float(poles[worst, k].real),
                    at=float(values[worst]),
                    kind=kind,
                )
            )
    return tuple(sorted(found, key=lambda item: item.low))
