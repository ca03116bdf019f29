"""The 3-D replay of a simulation as plain data (bodies, their motion, the view) and as a k3d scene.

`replay_of` reads a simulation; `page_replay` converts its result to a binary k3d scene and the data with
which the page's script moves it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.shape import Shape
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.reports.arrays import pack, pack_indices, pack_tracks, unpack
from spacectl.reports.scene.framing import WIDE, find_camera, find_cloud, find_origin
from spacectl.reports.scene.loads import find_arrows, find_lines
from spacectl.reports.scene.looks import rigid_looks
from spacectl.reports.scene.motion import Motion, deflection, find_motion
from spacectl.reports.scene.solids import Solid, arrow, skin_of, tube_faces
from spacectl.reports.units import format_value, pretty_unit
from spacectl.spatial.rotation import quaternions_from_rotations

__all__ = ["page_replay", "replay_of"]

FRAMES = 601  # largest number of frames
NUMBERS = 120_000  # largest number of values in all tracks of one replay
PARTS = 250  # largest number of parts: browsers become slow
SEEN = 0.01  # deflection over length below which it is hard to see
BEYOND = 0.5  # deflection over length beyond which second-order theory is invalid; the page reports it
SHOWN = 0.08  # deflection over length to which smaller ones are magnified


def replay_of(name: str, simulation: Any, shapes: Mapping[str, Shape | Sequence[Shape]]) -> dict[str, Any]:
    """Return a replay as JSON data.

    Parameters
    ----------
    name : str
        Of the simulation.
    simulation : Simulation
        With its equations.
    shapes : mapping of str to Shape or several
        Shapes of bodies, by name.

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
    """Return the factor that makes small deflections visible; 1 if they already are."""
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


LINE_SIDES = 5
LARGE = 0.25  # width over the size of the scene beyond which a body is translucent
COLOURS = (0x7A8794, 0x3F7FB5, 0x5FA8D3, 0x4C9F85, 0xB58AA5, 0x94A3B8)
BEND, LINE, FORCE, TORQUE = 0xE08A1E, 0xC65A11, 0xC0392B, 0x8B5FD0
AXES = (0xD55E00, 0x009E73, 0x0072B2)


def page_replay(replay: Mapping[str, Any]) -> dict[str, Any]:
    """Return a replay for a page: vertices in k3d's snapshot, other data as JSON."""
    kept = {key: value for key, value in replay.items() if key not in ("rigid", "skins")}
    rigid = [{"body": item["body"], "name": item["name"]} for item in replay["rigid"]]
    skins = [{key: value for key, value in item.items() if key != "faces"} for item in replay["skins"]]
    return {**kept, "rigid": rigid, "skins": skins, "line_sides": LINE_SIDES, "snapshot": _snapshot(replay)}


def _snapshot(replay: Mapping[str, Any]) -> str:
    k3d = import_module("k3d")
    size = float(replay["size"])
    plot = k3d.plot(camera_auto_fit=False, grid_visible=False, menu_visibility=False, axes_helper=0.0)
    plot.camera = list(replay["camera"])
    plot.lighting = 1.9
    for name, solid, colour, is_flat in _meshes(replay, size):
        extent = float(np.sort(np.ptp(solid.vertices, axis=0))[1]) if name.startswith("rigid") else 0.0
        plot += k3d.mesh(
            solid.vertices.astype(np.float32),
            solid.faces.astype(np.uint32),
            color=colour,
            flat_shading=is_flat,
            opacity=0.55 if extent > LARGE * size else 1.0,
            name=name,
        )
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * 0.6 * size
    bound = (corners + np.asarray(replay["centre"])).astype(np.float32)
    plot += k3d.points(bound, point_size=max(1e-6 * size, 1e-6), opacity=0.0, name="bounds")
    return base64.b64encode(plot.get_binary_snapshot()).decode("ascii")


def _meshes(replay: Mapping[str, Any], size: float) -> Iterator[tuple[str, Solid, int, bool]]:
    for i, item in enumerate(replay["rigid"]):
        yield f"rigid{i}", Solid(unpack(item["vertices"]), unpack(item["faces"])), COLOURS[i % len(COLOURS)], True
    for i, item in enumerate(replay["skins"]):
        corners = unpack(item["X"])[unpack(item["owner"])] + unpack(item["offset"])
        yield f"skin{i}", Solid(corners, unpack(item["faces"])), BEND, False
    first = replay["variants"][0]
    for i, item in enumerate(first["lines"]):
        count = item["points"]
        yield f"line{i}", Solid(np.zeros((count * LINE_SIDES, 3)), tube_faces(count, LINE_SIDES)), LINE, True
    for i, item in enumerate(first["arrows"]):
        is_force = item["kind"] == "force"
        yield f"arrow{i}", arrow(1 if is_force else 2), FORCE if is_force else TORQUE, False
    for i in range(3):
        e = np.eye(3)[i]
        side = np.eye(3)[(i + 1) % 3]
        R = np.stack([e, side, np.cross(e, side)], axis=1)
        drawn = arrow().moved(0.16 * size * R, np.zeros(3))
        yield f"axis{i}", drawn, AXES[i], False
