"""States at which a term of the equations is not defined, and kinks of the right-hand side, by name.

``sqrt(x^2 + y^2 + z^2) - 1`` has no gradient at the origin, and a spring has no direction if its ends meet.
Such a state has no accelerations in any formulation; nearby states are regular. At a kink, efforts or forces
of elements, or their derivatives, are discontinuous.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.tree.elements import joint_element_places
from spacectl.dynamics.tree.terms import Terms

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["explain_undefined", "find_kinks", "require_defined"]

_CURE = (
    "(a division by zero or a square root of zero, as where two points coincide); choose another state (x0, guess), "
    "or remove the singularity: squares instead of a square root, length=0 for a spring whose ends may meet"
)
_SHOWN = 6


def require_defined(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> None:
    """Raise `ModelError` if a constraint equation, its rate or its Jacobian is not finite at a state.

    Parameters
    ----------
    eom : EquationsOfMotion
        By any formulation.
    t : float
        Time [s].
    x : array, shape (n_x,)
        A finite state.
    p : array, optional
        Run-time parameters.
    """
    if not eom.constraint_rows:
        return
    q, v = np.split(np.asarray(x, dtype=float), [eom.n_q])
    position, speed, J, _, W = eom.call("projection", t, q, v, p=p)
    bad = ~np.all(np.isfinite(np.hstack([J, speed])), axis=1)
    bad[[eom.constraint_rows.index(name) for name in eom.position_rows]] |= ~np.isfinite(position.reshape(-1))
    if np.any(bad):
        rows = [name for name, is_bad in zip(eom.constraint_rows, bad, strict=True) if is_bad]
        used = np.any(J[bad] != 0.0, axis=0)
        raise ModelError(f"system '{eom.system.name}': {_undefined_rows(eom, t, q, v, rows, used, W)}")


def _undefined_rows(
    eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, rows: list[str], used: np.ndarray, W: np.ndarray
) -> str:
    """Describe the constraints that are not defined, with the values of the coordinates and speeds in them."""
    names = ", ".join(f"'{name}'" for name in dict.fromkeys(name.split(".")[0] for name in rows))
    named = [(eom.coordinates[k], q[k]) for k in np.flatnonzero(np.any(W[:, used] != 0.0, axis=1))]
    if any(name not in eom.position_rows for name in rows):
        named += [(eom.speeds[k], v[k]) for k in np.flatnonzero(used)]
    shown = ", ".join([f"{name} = {value:.4g}" for name, value in named[:_SHOWN]] + ["..."] * (len(named) > _SHOWN))
    return f"constraint {names} is not defined at t = {float(t):g}, {shown}: its value or a derivative is not finite {_CURE}"


def explain_undefined(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> str:
    """Find the constraints with rates, and the elements with forces, that are not finite at a state; empty if all is finite.

    Parameters
    ----------
    eom, t, x, p
        As for `require_defined`.
    """
    if not eom.n_v:
        return ""
    q, v = np.split(np.asarray(x, dtype=float), [eom.n_q])
    if eom.constraint_rows:
        _, _, J, _, gamma = eom.call("constraints", t, q, v, p=p)
        bad = ~np.isfinite(gamma.reshape(-1))
        rows = [name for name, is_bad in zip(eom.constraint_rows, bad, strict=True) if is_bad]
        if rows:
            W = eom.call("projection", t, q, v, p=p)[4]
            return _undefined_rows(eom, t, q, v, rows, np.any(J[bad] != 0.0, axis=0), W)
    if all(np.all(np.isfinite(item)) for item in (eom.mass_matrix(t, q, p), eom.bias(t, q, v, p))):
        return ""
    moving = eom.call("joint_speeds", t, q, v, p=p)[0] if "joint_speeds" in eom.functions else v
    terms = Terms(eom.system, eom.handover.vary)
    numbers = eom.system.parameters(vary=terms.vary).taken_from(eom.parameters, p)
    found = []
    for name, where, forces in _forces(terms):
        function = ca.Function("forces", [terms.t, terms.q, terms.v, terms.p], [ca.vertcat(*forces)])
        if not np.all(np.isfinite(function(t, q, moving, numbers).full())):
            found.append(f"the force of '{name}' {where} is not finite")
    place = ", ".join(f"{name} = {value:.4g}" for name, value in list(zip(eom.coordinates, q, strict=True))[:_SHOWN])
    if found:
        return f"{'; '.join(found[:_SHOWN])} at {place} {_CURE}"
    terms_at = f"the mass matrix or the bias (gravity, gyroscopic and elastic forces) is not finite at {place}"
    return f"{terms_at}; choose another state (x0, guess)"


def _forces(terms: Terms) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the name, the location in words and the forces of each element."""
    points = terms.points
    for element in terms.system.point_elements:
        if element.points:
            states = points.states(element)
            forces = element.forces(*states, points.rate, terms.t, terms.numbers.group(element.name))
            ends = dict.fromkeys(f"'{frame}'" for frame, _ in element.points)
            yield element.name, f"between {' and '.join(list(ends)[:_SHOWN])}", forces
    for item, places in joint_element_places(terms.system, terms.tree):
        at = [None if i is None else terms.q[i] for i, _ in places], [terms.v[k] for _, k in places]
        names = ", ".join(f"'{joint}'" for joint, _ in item.ends)
        yield item.name, f"on joint {names}", item.efforts(*at, terms.numbers.group(item.name))


@lru_cache(maxsize=64)
def find_kinks(eom: EquationsOfMotion) -> tuple[ca.Function, tuple[str, ...]] | None:
    """Return ``(t, x, p) -> g``, whose entries cross zero at the kinks of the elements, and the element of each entry.

    None if no element has any.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    """
    if not any(element.has_kinks for element in eom.system.elements):
        return None
    terms = Terms(eom.system, eom.handover.vary)
    found = [*_joint_kinks(terms), *_point_kinks(terms)]
    x = ca.vertcat(terms.q, terms.v)
    g = ca.densify(ca.vertcat(*[value for _, value in found]))
    return ca.Function("kinks", [terms.t, x, terms.p], [g], ["t", "x", "p"], ["g"]), tuple(name for name, _ in found)


def _joint_kinks(terms: Terms) -> list[tuple[str, Any]]:
    found = []
    for element, places in joint_element_places(terms.system, terms.tree):
        q, v = [None if i is None else terms.q[i] for i, _ in places], [terms.v[k] for _, k in places]
        found += [(element.name, value) for value in element.kinks(q, v, terms.numbers.group(element.name))]
    return found


def _point_kinks(terms: Terms) -> list[tuple[str, Any]]:
    found = []
    for element in terms.system.point_elements:
        if element.points:
            p, v = terms.points.states(element)
            n = terms.numbers.group(element.name)
            found += [(element.name, value) for value in element.kinks(p, v, terms.t, n)]
    return found
