"""The 3-D replay of a simulation as plain data: what is drawn, where it is at each time, and from where to look.

`replay_of` reads a simulation; `viewer` turns its answer into a k3d scene and the tracks that move it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.shape import Shape
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.reports.arrays import pack, pack_indices, pack_tracks
from spacectl.reports.scene.bodies import skin_of
from spacectl.reports.scene.framing import WIDE, find_camera, find_cloud, find_origin
from spacectl.reports.scene.loads import find_arrows, find_lines
from spacectl.reports.scene.looks import rigid_looks
from spacectl.reports.scene.motion import Motion, deflection, find_motion
from spacectl.reports.units import format_value, pretty_unit
from spacectl.spatial.rotation import quaternions_from_rotations

__all__ = ["replay_of"]

FRAMES = 601  # at most
NUMBERS = 120_000  # in all tracks of one replay, at most
PARTS = 250  # beyond this a browser is slow
SEEN = 0.01  # deflections below this part of a body's length are hard to see
BEYOND = 0.5  # deflection over length beyond which no theory of second order holds, and the page says so
SHOWN = 0.08  # to what part of its length stretched ones are shown


def replay_of(name: str, simulation: Any, shapes: Mapping[str, Shape | Sequence[Shape]]) -> dict[str, Any]:
    """What a replay needs, as JSON data.

    Parameters
    ----------
    name : str
        Of the simulation.
    simulation : Simulation
        With its equations.
    shapes : mapping of str to Shape or several
        Looks of bodies, by name.

    Raises
    ------
    ModelError
        If the simulation has no equations, fewer than two times, or too many parts.
    """
    eom = getattr(simulation, "equations", None)
    if eom is None:
        raise ModelError("the simulation has no equations")
    count = len(eom.system.tree)
    if count > PARTS or simulation.t.size < 2:
        raise ModelError(
            f"{count} bodies and {simulation.t.size} times; a replay has up to {PARTS} bodies and two or more times"
        )
    motion = find_motion(simulation, most=int(min(FRAMES, max(120, NUMBERS / (7 * count + 12)))))
    skins = _flexible(motion)
    factor = _stretch(motion, skins) if not eom.constraint_rows else 1.0
    motions = [motion] if factor == 1.0 else [motion, find_motion(simulation, most=motion.t.size, stretch=factor)]
    if not all(np.all(np.isfinite(p)) for p in motion.p.values()):
        raise ModelError("the placements of the bodies are not finite")
    solids = rigid_looks(motion, shapes)
    origin, seen_from = find_origin(motion, solids)
    cloud = find_cloud(motion, origin, solids)
    size = max(float(np.linalg.norm(np.ptp(cloud, axis=(0, 1)))), 1e-3)
    names = list(motion.p)
    rigid = [
        {"body": names.index(key), "name": key, "vertices": pack(solid.vertices), "faces": pack_indices(solid.faces)}
        for key, solid in solids.items()
    ]
    return {
        "name": name,
        "system": motion.system.name,
        "t": pack(motion.t),
        "bodies": names,
        "rigid": rigid,
        "skins": [_skin(names.index(key), key, body, size) for key, body in skins.items()],
        "variants": [_tracks(item, origin, factor if i else 1.0) for i, item in enumerate(motions)],
        "size": size,
        "centre": (0.5 * (cloud.min(axis=(0, 1)) + cloud.max(axis=(0, 1)))).tolist(),
        "camera": find_camera(motion, cloud),
        "camera_wide": find_camera(motion, cloud, WIDE),
        "axes": _axes(motion, seen_from),
        "seen_from": seen_from,
        "beyond": [key for key, part in _largest(motion, skins).items() if part > BEYOND],
    }


def _flexible(motion: Motion) -> dict[str, FlexibleBody]:
    return {body.name: body for body in motion.system.flexible_bodies}


def _skin(i: int, name: str, body: FlexibleBody, size: float) -> dict[str, Any]:
    length = float(np.max(np.ptp(body.material.X, axis=0)))
    skin = skin_of(body, float(np.clip(length / 40.0, 0.006 * size, 0.03 * size)))
    packed = {key: pack(getattr(skin, key)) for key in ("X", "Phi", "Psi", "G", "offset")}
    whole = {key: pack_indices(getattr(skin, key)) for key in ("owner", "faces")}
    return {"body": i, "name": name, "modes": body.n_modes, **packed, **whole}


def _stretch(motion: Motion, skins: Mapping[str, FlexibleBody]) -> float:
    """Factor that makes small deflections visible; 1 where they are."""
    largest = max(_largest(motion, skins).values(), default=0.0)
    if not 0.0 < largest < SEEN:
        return 1.0
    digits = 10.0 ** np.floor(np.log10(SHOWN / largest))
    return float(min(np.floor(SHOWN / largest / digits) * digits, 1e4))


def _largest(motion: Motion, skins: Mapping[str, FlexibleBody]) -> dict[str, float]:
    """Return the largest deflection of each flexible body over its length."""
    found = {}
    for name, body in skins.items():
        points = body.material
        length = max(float(np.max(np.ptp(points.X, axis=0))), 1e-12)
        moved = deflection(points.Phi[::4], points.G[::4], motion.eta[name])
        found[name] = float(np.max(np.abs(moved), initial=0.0)) / length
    return found


def _axes(motion: Motion, seen_from: str) -> dict[str, Any]:
    environment = motion.system.environment
    title = f"axes of the root, at '{seen_from}'" if seen_from else "root frame"
    title = "orbit frame" if "orbit" in environment.root_names else title
    return {"title": title, "labels": list(environment.axis_names)}


def _tracks(motion: Motion, origin: np.ndarray, stretch: float) -> dict[str, Any]:
    columns = []
    for name, p in motion.p.items():
        quaternion = quaternions_from_rotations(motion.R[name])
        flips = np.cumprod(np.where(np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0.0, -1.0, 1.0))
        quaternion[1:] *= flips[:, None]
        columns += [quaternion, p - origin]
    lines, arrows = find_lines(motion), find_arrows(motion)
    return {
        "stretch": stretch,
        "poses": pack_tracks(np.concatenate(columns, axis=1)),
        "eta": {name: pack_tracks(eta) for name, eta in motion.eta.items()},
        "lines": [
            {"name": line.name, "kind": line.kind, "points": line.points.shape[1], **_shifted(line.points, origin)}
            for line in lines
        ],
        "arrows": [
            {
                "name": arrow.name,
                "kind": arrow.kind,
                "peak": f"{format_value(float(f'{arrow.peak:.3g}'))} {pretty_unit(arrow.unit)}",
                "track": pack_tracks(np.concatenate([arrow.origin - origin, arrow.vector / arrow.peak], axis=1)),
            }
            for arrow in arrows
        ],
    }


def _shifted(points: np.ndarray, origin: np.ndarray) -> dict[str, Any]:
    return {"track": pack_tracks((points - origin[:, None]).reshape(len(points), -1))}
