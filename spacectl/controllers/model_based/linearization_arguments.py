"""Check the arguments of feedback linearisations: controlled speeds, values by speed, weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.tangent import error_labels

__all__ = ["read_by_speed", "read_speeds", "read_weight"]


def read_speeds(
    eom: EquationsOfMotion, speeds: tuple[str, ...] | None, inputs: tuple[str, ...], name: str
) -> tuple[str, ...]:
    """Return the names of the controlled speeds, as many as there are inputs."""
    chosen = eom.speeds if speeds is None else tuple(speeds)
    for kind, given, known in (("speed", chosen, eom.speeds), ("input", inputs, eom.inputs)):
        for item in given:
            if item not in known:
                raise ModelError(f"law '{name}': {kind}s names an {unknown_name(kind, item, known)}")
    if len(chosen) != len(inputs):
        raise ModelError(
            f"law '{name}': {len(inputs)} inputs for {len(chosen)} controlled speeds; name as many speeds as there are inputs "
            "(speeds=..., inputs=...), or use ModifiedFeedbackLinearization for an under-actuated system"
        )
    return chosen


def read_by_speed(eom: EquationsOfMotion, value: Any, key: str, what: str) -> np.ndarray:
    """Return one value for all speeds, or values by the names of speeds or coordinates (0 for others)."""
    errors = error_labels(eom).names[: eom.n_v]
    found = np.zeros(eom.n_v)
    if isinstance(value, Mapping):
        known = {**{name: k for k, name in enumerate(eom.speeds)}, **{name: k for k, name in enumerate(errors)}}
        for name, number in value.items():
            if name not in known:
                raise ModelError(f"{what}: {key} names an {unknown_name('coordinate or speed', name, list(known))}")
            found[known[name]] = float(number)
    else:
        found[:] = np.asarray(value, dtype=float)
    if np.any(~np.isfinite(found)) or np.any(found < 0.0):
        raise ModelError(f"{what}: {key} is {value!r}, expected numbers that are 0 or more")
    return found


def read_weight(weight: Any, n: int, name: str) -> np.ndarray | None:
    """Return the weight Q of the modified law; None for the inverse of the mass matrix."""
    if isinstance(weight, str):
        if weight not in ("identity", "inverse mass"):
            raise ModelError(f"law '{name}': weight is '{weight}', expected 'identity', 'inverse mass' or a matrix")
        return np.eye(n) if weight == "identity" else None
    Q = np.asarray(weight, dtype=float)
    if Q.shape != (n, n) or not np.allclose(Q, Q.T) or np.min(np.linalg.eigvalsh(Q)) <= 0.0:
        raise ModelError(f"law '{name}': weight must be a symmetric positive definite matrix ({n}, {n})")
    return Q
