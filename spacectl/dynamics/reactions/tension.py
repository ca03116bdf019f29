"""Tension of tethers and springs along a motion, and their strain as an expression for guards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.model.elements import PointElement

__all__ = ["find_tension", "watch_stretch"]


def find_tension(eom: EquationsOfMotion, name: str, t: Any, x: Any, *, u: Any = None, p: Any = None) -> np.ndarray:
    """Find the tension of a tether or spring along a motion, shape (n_t, n_segments) [N].

    For a straight tether it is T(0), just outside the drum, and negative where the line would have to push: the straight
    model is not valid there. For an elastic tether it is that of each string from the drum on, and never negative.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the system with the tether.
    name : str
        Name of the tether or spring.
    t, x, u : arrays, shapes (n_t,), (n_t, n_x), (n_t, n_u)
        A motion; no inputs by default.
    p : array, shape (n_p,), optional
        Run-time parameters.
    """
    element = _element(eom, name, "find_tension")
    times, states = np.atleast_1d(np.asarray(t, dtype=float)), np.atleast_2d(np.asarray(x, dtype=float))
    inputs = np.zeros((len(times), eom.n_u)) if u is None else np.asarray(u, dtype=float).reshape(len(times), eom.n_u)
    n_q = eom.n_q
    if element.tension_axis is not None:
        row = [part.name for part in eom.system.tree].index(name)
        axis = np.asarray(element.tension_axis)
        wrenches = [
            eom.reactions(time, state[:n_q], state[n_q:], command, p)[row]
            for time, state, command in zip(times, states, inputs, strict=True)
        ]
        return -(np.array(wrenches)[:, 3:6] @ axis)[:, None]
    function = _function(eom, element, lambda points, terms, n: element.tensions(points[0], points[1], terms.t, n))
    vector = eom.parameters.of(p)
    return np.array([np.array(function(time, s, vector)).ravel() for time, s in zip(times, states, strict=True)])


def watch_stretch(eom: EquationsOfMotion, name: str) -> Callable[[Any], Any]:
    """Return an expression for a `Guard`: the smallest strain among the strings of an elastic tether (or of a spring).

    It falls through zero where the first string goes slack, and rises where the last one becomes taut.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the system with the tether.
    name : str
        Name of the tether or spring.
    """
    element = _element(eom, name, "watch_stretch")
    if element.tension_axis is not None:
        raise ModelError(
            f"watch_stretch: tether '{name}' is straight and does not stretch; watch find_tension of its motion"
        )
    function = _function(
        eom, element, lambda points, terms, n: [ca.mmin(ca.vertcat(*element.strains(points[0], terms.t, n)))]
    )
    return lambda s: function(s.t, s.x, s.p)


def _element(eom: EquationsOfMotion, name: str, caller: str) -> PointElement:
    require_equations(eom, caller)
    elements = {element.name: element for element in eom.system.point_elements}
    if name not in elements:
        raise ModelError(f"{caller}: {unknown_name('tether or spring', name, elements)}")
    return elements[name]


def _function(eom: EquationsOfMotion, element: PointElement, law: Callable[..., list[Any]]) -> ca.Function:
    """Return (t, x, p) -> the values of a law of the element's points."""
    terms = Terms(eom.system, eom.handover.vary)
    values = law(terms.points.states(element), terms, terms.numbers.group(element.name))
    return ca.Function("tether", [terms.t, ca.vertcat(terms.q, terms.v), terms.p], [ca.vertcat(*values)])
