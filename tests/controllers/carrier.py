"""A law that passes one signal, so that what a wrapper does to it is seen alone; and how to run a sampled law by hand."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import ControlLaw, Labels, make_law

__all__ = ["carrier", "frequency_response", "run_samples"]


def carrier(period: float = 0.0, on: str = "inputs") -> ControlLaw:
    """``out = signal``; the signal is a state, or a measurement where the wrapper is put on measurements."""
    labels = Labels(("signal",), ("V",), "measurement" if on == "measurements" else "state")
    place = {"measurements": labels, "states": Labels(kind="state")} if on == "measurements" else {"states": labels}
    return make_law(
        lambda s: s["signal"], name="carrier", inputs=Labels(("out",), ("N m",), "input"), period=period, **place
    )


def run_samples(law: ControlLaw, signal: Any) -> np.ndarray:
    """Output at every sample of a given signal."""
    z, out = np.asarray(law.z0), []
    for k, value in enumerate(np.asarray(signal, dtype=float)):
        x, y = ([], [value]) if len(law.measurements) else ([value], [])
        u, _, z_next = law.function(k * law.period, x, y, z, [], np.asarray(law.p))
        out.append(float(u))
        z = np.asarray(z_next).reshape(-1)
    return np.array(out)


def frequency_response(law: ControlLaw, w: np.ndarray) -> np.ndarray:
    """From the signal to the output, by the exact derivatives of the law's function at rest."""
    t, x, y, z, r, p = (ca.SX.sym(name, law.function.numel_in(i)) for i, name in enumerate(law.function.name_in()))
    u, z_dot, z_next = law.function(t, x, y, z, r, p)
    change = z_next if law.is_sampled else z_dot
    matrices = [ca.jacobian(change, z), ca.jacobian(change, x), ca.jacobian(u, z), ca.jacobian(u, x)]
    slopes = ca.Function("slopes", [t, x, y, z, r, p], [ca.densify(item) for item in matrices])
    A, B, C, D = (
        np.asarray(item) for item in slopes(0.0, np.zeros(x.numel()), [], np.asarray(law.z0), [], np.asarray(law.p))
    )
    points = np.exp(1j * w * law.period) if law.is_sampled else 1j * w
    return np.array([(C @ np.linalg.solve(q * np.eye(len(A)) - A, B) + D)[0, 0] for q in points])
