"""Pack arrays for pages and folders compactly, as base64 inside JSON, without visible loss.

`pack` uses single precision (curves). `pack_tracks` uses 16 bits between the extremes of each column
(positions and attitudes of a replay, which dominate the size of a page).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["decimate", "pack", "pack_indices", "pack_tracks", "unpack", "unpack_tracks"]

LEVELS = 65535


def pack(values: Any) -> dict[str, Any]:
    """Return an array in single precision."""
    array = np.ascontiguousarray(values, dtype="<f4")
    return {"f32": base64.b64encode(array.tobytes()).decode("ascii"), "shape": list(array.shape)}


def pack_indices(values: Any) -> dict[str, Any]:
    """Return an array of integers, such as the vertices of triangles."""
    array = np.ascontiguousarray(values, dtype="<u4")
    return {"u32": base64.b64encode(array.tobytes()).decode("ascii"), "shape": list(array.shape)}


def unpack(packed: Mapping[str, Any]) -> np.ndarray:
    """Unpack the result of `pack` or `pack_indices`."""
    key, kind = ("f32", "<f4") if "f32" in packed else ("u32", "<u4")
    flat = np.frombuffer(base64.b64decode(packed[key]), dtype=kind)
    return flat.reshape(packed["shape"]).astype(float if key == "f32" else int)


def pack_tracks(values: Any) -> dict[str, Any]:
    """Return histories (n, k) column by column, each with 16 bits between its extremes."""
    array = np.asarray(values, dtype=float)
    low = array.min(axis=0) if len(array) else np.zeros(array.shape[1])
    step = (array.max(axis=0) - low) / LEVELS if len(array) else np.zeros(array.shape[1])
    levels = np.rint((array - low) / np.where(step > 0.0, step, 1.0)).astype("<u2")
    data = base64.b64encode(np.ascontiguousarray(levels.T).tobytes()).decode("ascii")
    return {"u16": data, "shape": list(array.shape), "low": low.tolist(), "step": step.tolist()}


def unpack_tracks(packed: Mapping[str, Any]) -> np.ndarray:
    """Unpack the result of `pack_tracks`, shape (n, k)."""
    n, k = packed["shape"]
    levels = np.frombuffer(base64.b64decode(packed["u16"]), dtype="<u2").reshape(k, n).T
    return np.asarray(packed["low"]) + np.asarray(packed["step"]) * levels


def decimate(x: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a curve to about `most` points: first, least, greatest and last of each section."""
    if x.size <= most:
        return x, y
    edges = np.linspace(0, x.size, max(most // 4, 1) + 1).astype(int)
    kept: set[int] = set()
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        if b > a:
            kept |= {a, a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b])), b - 1}
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]
