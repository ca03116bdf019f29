"""Beams cut into segments: one body in the description, several pieces with rigid interfaces in the equations.

Each segment is a flexible body of small deflections on the deformed end of the one before it; the chain converges to
the geometrically exact beam as segments are added. `expand_segments` inserts the pieces into a system; aliases redirect
references to the beam's frames.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.damping import Proportional
from spacectl.model.bodies.base.interfaces import DIRECTIONS, ROOT_INTERFACE, join_interfaces
from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.bodies.base.profile import cut_property
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.rigid import Frame
from spacectl.model.joints import Fixed
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["cut_beam", "expand_segments", "segment_derivatives"]

_END = "tip"  # name of the frame that carries the next segment
_PROPERTIES = ("EI", "EA", "GJ", "GA", "warping")


def expand_segments(system: System) -> System:
    """Return the system with each segmented beam replaced by its pieces (unchanged without such beams).

    Parameters
    ----------
    system : System
        The description.
    """
    beams = [part.body for part in system.parts if isinstance(part.body, Beam) and part.body.segments > 1]
    cut = {beam.name: cut_beam(beam) for beam in beams}
    if not cut:
        return system
    for actuator in system.actuators:
        if any(item.is_spread and item.on.partition(".")[0] in cut for item in actuator.wrenches):
            raise ModelError(
                f"actuator '{actuator.input_name}': distributed loads on segmented beams are not supported; use "
                "segments=1, or BodyForce at frames"
            )
    aliases = {name: pieces[0].name for name, pieces in cut.items()}
    for name, pieces in cut.items():
        own = [frame.name for part in system.parts if part.name == name for frame in part.body.frames]
        places = {frame.name: piece.name for piece in pieces for frame in piece.frames if frame.name in own}
        aliases |= {
            f"{name}.{frame}": f"{piece}.{frame}" for frame, piece in places.items()
        }  # the tip is the last piece's
    parts: list[Part] = []
    for part in system.parts:
        bodies: tuple[Any, ...] = cut.get(part.name) or (part.body,)
        joint = replace(part.joint, name=part.joint_name) if part.joint.coordinates else part.joint
        parts.append(replace(part, body=bodies[0], joint=joint))
        chained = zip(bodies, bodies[1:], strict=False)
        parts += [Part(piece, on=f"{before.name}.{_END}", joint=Fixed()) for before, piece in chained]
    return replace(system, parts=tuple(parts), aliases=tuple(aliases.items()))


def cut_beam(beam: Beam) -> tuple[Beam, ...]:
    """Return the pieces of a beam, root first: ``name[1]``, ``name[2]``, ..."""
    edges = np.linspace(0.0, beam.length, beam.segments + 1)
    spans = list(zip(edges[:-1], edges[1:], strict=True))
    return tuple(_piece(beam, k, float(a), float(b)) for k, (a, b) in enumerate(spans))


def segment_derivatives(beam: Beam, key: str) -> dict[str, dict[str, np.ndarray] | None]:
    """Return derivatives of the parameters of each piece (``"[1]"``, ...) by a field of the beam; None if unknown."""
    pieces = cut_beam(beam)
    if key != "damping" or isinstance(beam.damping, Proportional):
        found = {piece.name: piece.number_derivatives(key) for piece in pieces}
        if not isinstance(beam.damping, Proportional):  # D ~ K / omega_1 ~ sqrt(K): half of what K alone would cause
            for piece in pieces:
                found[piece.name] = _with_damping(piece, found[piece.name])
    else:  # D is linear in the ratio
        unit = cut_beam(replace(beam, damping=1.0))
        found = {piece.name: {"modal_damping": pack_symmetric(piece.damping_matrix)[:, None]} for piece in unit}
    return {name.removeprefix(beam.name): columns for name, columns in found.items()}


def _with_damping(piece: Beam, columns: dict[str, np.ndarray] | None) -> dict[str, np.ndarray] | None:
    """Add the derivatives of ``D = 2 zeta / omega_1 K`` of each kind, where omega_1 of the beam grows like sqrt(K)."""
    if columns is None:
        return None
    K, D = (pack_symmetric(item) for item in (piece.elasticity, piece.damping_matrix))
    ratio = np.divide(D, K, out=np.zeros_like(D), where=K != 0.0)
    return {**columns, "modal_damping": 0.5 * ratio[:, None] * columns["stiffness"]}


def _piece(beam: Beam, k: int, a: float, b: float) -> Beam:
    is_last = k == beam.segments - 1
    mass = cut_property(beam.mass, a, b)
    if not callable(beam.mass):
        mass = beam.mass * (b - a) / beam.length
    inside = [frame for frame in beam.frames if _holds(frame, a, b, beam.length, is_last)]
    frames = [replace(frame, at=np.asarray(frame.at) - np.array([a, 0.0, 0.0])) for frame in inside]
    interfaces = beam.interface_directions
    own = {name: interfaces[name] for name in (frame.name for frame in inside) if name in interfaces}
    own[ROOT_INTERFACE] = interfaces.get(ROOT_INTERFACE, DIRECTIONS) if k == 0 else DIRECTIONS
    if not is_last:
        own[_END] = DIRECTIONS
    is_chosen = beam.shapes in ("auto", "interface")
    piece = replace(
        beam,
        name=f"{beam.name}[{k + 1}]",
        length=b - a,
        mass=mass,
        segments=1,
        frames=tuple(frames),
        shapes="interface" if is_chosen else beam.shapes,
        interfaces=join_interfaces(own) if is_chosen else (),
        damping=0.0,
        **{key: cut_property(getattr(beam, key), a, b) for key in _PROPERTIES},
    )
    return replace(piece, damping=_damping(beam, piece))


def _holds(frame: Frame, a: float, b: float, length: float, is_last: bool) -> bool:
    """Return whether a frame is on the piece from a to b: at an edge, on the piece that ends there."""
    x, small = float(np.asarray(frame.at)[0]), 1e-9 * length
    return (a == 0.0 or x > a + small) and (is_last or x <= b + small)


def _damping(beam: Beam, piece: Beam) -> Any:
    """Return the damping of a piece that gives the lowest mode of each kind of the beam its damping ratio.

    ``D = 2 zeta / omega_1 K``: shapes of a piece are not modes of the beam, and one ratio for each of them would damp the
    slow modes of the beam far too little. Higher modes of the beam are damped in proportion to their frequency.
    """
    if isinstance(beam.damping, Proportional):
        return beam.damping
    D = np.zeros((piece.n_modes, piece.n_modes))
    for lowest, own in zip(beam.lowest_frequencies, piece.kind_slices, strict=True):
        D[own, own] = 2.0 * float(beam.damping) / lowest * piece.elasticity[own, own]
    return Array(D) if np.any(D) else 0.0
