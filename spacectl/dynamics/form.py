"""`form_equations`: select a formulation and form the equations of motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.input_checks import as_names
from spacectl.dynamics.constraints.rank_condition import explain_rank, find_rank
from spacectl.dynamics.formulations.articulated import form_articulated
from spacectl.dynamics.formulations.constrained import form_artificial, form_multipliers, form_udwadia_phohomsiri
from spacectl.dynamics.formulations.embedded import form_embedded, has_local_loops
from spacectl.dynamics.formulations.kane import form_kane
from spacectl.dynamics.formulations.partitioned import form_partitioned
from spacectl.dynamics.recursion.tree_data import knows_kinds
from spacectl.dynamics.recursion.tree_reference import TreeReference
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.handover import Baumgarte, Options, choose_speeds
from spacectl.model.constraints import AnyConstraint
from spacectl.model.physical_names import PhysicalNames
from spacectl.model.system import System
from spacectl.model.transforms.absolute import as_absolute
from spacectl.model.transforms.segments import expand_segments

__all__ = ["FORMULATIONS", "form_equations"]

_SINGULAR = 1e-13  # pivot relative to its diagonal entry: a few hundred roundings

FORMULATIONS: dict[str, Callable[..., EquationsOfMotion]] = {
    "kane": form_kane,
    "articulated": form_articulated,
    "multipliers": form_multipliers,
    "udwadia_phohomsiri": form_udwadia_phohomsiri,
    "artificial": form_artificial,
    "partitioned": form_partitioned,
    "embedded": form_embedded,
}


def form_equations(
    system: System,
    *,
    formulation: str = "auto",
    vary: tuple[str, ...] = (),
    active: tuple[str, ...] | None = None,
    stabilization: Baumgarte | None = None,
    coordinates: str = "joint",
    speeds: Mapping[str, Any] | None = None,
    independent: tuple[str, ...] | str = (),
    switchable: bool = False,
) -> EquationsOfMotion:
    """Form the equations of motion of a system.

    Parameters
    ----------
    system : System
        The description.
    formulation : str
        A key of `FORMULATIONS`, or ``"auto"``, which selects one and gives the reason in ``eom.stats["reason"]``.
    vary : tuple of str
        Names of parameters whose exact zeros (or ones) become run-time parameters too.
    active : tuple of str, optional
        Names of the active constraints; default: all constraints of the system.
    stabilization : Baumgarte, optional
        Makes constraint errors decay within the equations. `simulate` projects the state onto the constraints in any case.
    coordinates : {"joint", "absolute"}
        ``"absolute"`` (with ``formulation="multipliers"`` or ``"udwadia_phohomsiri"``): every body moves freely and every
        joint is a constraint (Aslanov, Kruglov, Yuditsev).
    speeds : mapping of str to (name, function) or (name, function, unit), optional
        User-defined speeds (Sadigh 1995, Eq 2.1), linear in the joint and modal speeds, by the name of the speed that each
        replaces: ``{"b_dot": ("spin", lambda s: s["a_dot"] + s["b_dot"], "rad/s")}``. By `kane`, without constraints.
    independent : tuple of str
        Coordinates or speeds to be independent, with ``formulation="partitioned"``; the others are selected automatically. A
        single name may be a string.
    switchable : bool
        Whether each constraint gets a run-time parameter ``name.active``, 1 or 0, that switches it on and off: one set of
        equations and of native code for all stages of a motion (`simulate_stages`).

    Returns
    -------
    EquationsOfMotion

    Raises
    ------
    ModelError
        For an unknown formulation or parameter, or if no body has inertia along some direction of the speeds.

    Examples
    --------
    >>> from spacectl import library
    >>> eom = form_equations(library.pendulum())
    >>> eom.states
    ('hinge', 'hinge_dot')
    """
    if not isinstance(system, System):
        raise ModelError(f"form_equations: expected a System, got {type(system).__name__}")
    written, system = system, expand_segments(system)
    options = Options(
        vary=tuple(vary),
        active=None if active is None else tuple(active),
        stabilization=stabilization,
        coordinates=coordinates,
        speeds=choose_speeds(speeds),
        independent=as_names(independent, "form_equations: independent"),
        switchable=bool(switchable),
    )
    if coordinates not in ("joint", "absolute"):
        raise ModelError(f"form_equations: coordinates is {coordinates!r}, expected 'joint' or 'absolute'")
    acting = system.acting(options.active)
    chosen, reason = _choose(system, acting, options) if formulation == "auto" else (formulation, "requested")
    if chosen not in FORMULATIONS:
        raise ModelError(unknown_name("formulation", chosen, ["auto", *FORMULATIONS]))
    if coordinates == "absolute":
        if chosen not in ("multipliers", "udwadia_phohomsiri"):
            raise ModelError(f"form_equations: {chosen} works in joint coordinates; use formulation='multipliers'")
        system = as_absolute(system)
    if options.speeds and (chosen != "kane" or acting):
        raise ModelError(f"form_equations: user-defined speeds need 'kane' without constraints, not '{chosen}'")
    if options.independent and chosen != "partitioned":
        raise ModelError(
            f"form_equations: independent speeds are chosen with formulation='partitioned', not '{chosen}'"
        )
    eom = _form(system, chosen, options, written)
    if not acting and coordinates == "joint":
        _check_inertia(eom)
    return replace(eom, stats={**eom.stats, "reason": reason})


def _choose(system: System, acting: tuple[AnyConstraint, ...], options: Options) -> tuple[str, str]:
    """Return a suitable formulation for a system, and the reason."""
    if options.coordinates == "absolute":
        return "multipliers", "absolute coordinates: one body each, joints as constraints"
    if acting and not options.switchable and has_local_loops(system, acting):
        return "embedded", "many local loops: each is an aggregate joint within the recursion, order N"
    if any(not constraint.is_natural for constraint in acting):
        return "artificial", "a constraint is maintained by actuators"
    if acting:
        return "kane", "constrained system: reduced to independent speeds, re-selected at every state"
    if system.is_first_order:
        return "kane", "a body uses a truncated order: M is not symmetric"
    if options.speeds:
        return "kane", "user-defined speeds"
    return "articulated", "a tree without constraints: order N, no matrix to factorise"


def _form(system: System, formulation: str, options: Options, written: System) -> EquationsOfMotion:
    """Form the equations of a system; fields of its description become names of run-time parameters."""
    rebuild: tuple[Any, ...] = (_form_again, (system, formulation, options, written))
    eom = FORMULATIONS[formulation](system, options=options, rebuild=rebuild)
    expand = _as_absolute if options.coordinates == "absolute" else expand_segments
    names = PhysicalNames(written, expand, eom.parameters, options.vary)
    return replace(eom, parameters=replace(eom.parameters, physical=names))


def _as_absolute(system: System) -> System:
    return as_absolute(expand_segments(system))


def _form_again(system: System, formulation: str, options: Options, written: System) -> EquationsOfMotion:
    """Form the same equations from the pickled description, in a worker process."""
    eom = _form(system, formulation, options, written)
    return replace(eom, stats={**eom.stats, "reason": "formed again"})


def _check_inertia(eom: EquationsOfMotion) -> None:
    """Raise `ModelError`, naming the directions without inertia, if the mass matrix is singular."""
    if eom.n_v == 0:
        return
    bodies = [part.body for part in eom.system.tree]
    is_special = any(body.is_flexible or body.line for body in bodies)
    is_special = is_special or any(part.joint.motion is not None for part in eom.system.tree)
    sweeps = None if is_special or not knows_kinds(eom.system) else TreeReference(eom.system, eom.parameters, eom.p)
    found: list[tuple[int, np.ndarray]] = []
    # a mass matrix may be singular at rest only (collinear axes of a wrist): check other positions too
    for shift in (0.0, 0.37, 1.13):
        moved = np.asarray(eom.x_rest) + shift * np.cos(np.arange(eom.n_x))
        q = eom.state(np.concatenate([moved[: eom.n_q], np.zeros(eom.n_v)]))[: eom.n_q]
        pivot = _weakest_pivot(eom.mass_matrix(0.0, q)) if sweeps is None else sweeps.weakest_pivot(q)
        if pivot > _SINGULAR:
            return
        found.append((find_rank(eom.mass_matrix(0.0, q), np.zeros((0, eom.n_v))).rank, q))
    _, q = max(found, key=lambda pair: pair[0])  # a direction without inertia there has none in any position
    raise ModelError(f"system '{eom.system.name}': {explain_rank(eom, 0.0, q, np.zeros(eom.n_v))}")


def _weakest_pivot(M: np.ndarray) -> float:
    """Return the smallest pivot of M, eliminated last to first, relative to its diagonal entry."""
    rest, ratios = M.copy(), np.zeros(len(M))
    for k in reversed(range(len(M))):
        ratios[k] = rest[k, k] / M[k, k] if M[k, k] > 0.0 else 0.0
        if ratios[k] > _SINGULAR:
            rest[:k, :k] -= np.outer(rest[:k, k], rest[k, :k]) / rest[k, k]
    return float(np.min(ratios))
