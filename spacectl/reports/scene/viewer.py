"""The k3d side of a replay: the scene as k3d's binary snapshot, and the tracks that the page's script moves it by."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from spacectl.reports.arrays import unpack
from spacectl.reports.scene.solids import Solid, arrow, tube_faces

__all__ = ["page_replay"]

LINE_SIDES = 5
LARGE = 0.25  # width over the size of the scene beyond which a body is translucent, so that it hides nothing
COLOURS = (0x7A8794, 0x3F7FB5, 0x5FA8D3, 0x4C9F85, 0xB58AA5, 0x94A3B8)
BEND, LINE, FORCE, TORQUE = 0xE08A1E, 0xC65A11, 0xC0392B, 0x8B5FD0
AXES = (0xD55E00, 0x009E73, 0x0072B2)


def page_replay(replay: Mapping[str, Any]) -> dict[str, Any]:
    """Return a replay for a page: corners go into k3d's snapshot, the rest stays JSON."""
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
