"""Search for the approach posture in which the satellite's spin brings it closest (open in Sadigh 1995, section 6.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from spacectl import EquationsOfMotion, form_equations, simulate_many

from .cases import CASES
from .model import Parameters, build, find_posture, start

CLEAR = 4.0  # [m], required distance of the centres of mass
Choice = tuple[float, float, float]  #: pitch of the spacecraft, grapple axis, side of the elbow


@dataclass(frozen=True)
class Search:
    """Distances over the postures tried, and the best one."""

    pitches: np.ndarray
    axes: np.ndarray
    distance: np.ndarray  # (side, pitch, axis) at the end [m]; NaN where out of reach, too fast or too close
    best: Choice
    best_distance: float
    least: float  # on the way [m]


def search(parameters: Parameters, *, quick: bool) -> Search:
    """Search a grid over pitch, grapple axis and elbow side, then locally from the best point."""
    eom = form_equations(build(parameters, **CASES["case 3"]))
    n_pitch, n_axis = (9, 13) if quick else (25, 49)
    pitches, axes = np.linspace(-np.pi, np.pi, n_pitch), np.linspace(0.0, 2.0 * np.pi, n_axis)
    choices = [(pitch, axis, side) for side in (1.0, -1.0) for pitch in pitches for axis in axes]
    ends = np.array([item[0] for item in responses(parameters, eom, choices)]).reshape(2, n_pitch, n_axis)
    first = choices[int(np.nanargmin(ends))]

    def cost(z: np.ndarray) -> float:
        end, least = responses(parameters, eom, [(float(z[0]), float(z[1]), first[2])], keep=True)[0]
        return 1e3 if np.isnan(end) else end + 10.0 * max(CLEAR - least, 0.0)

    step = 0.5 * np.array([[0.0, 0.0], [pitches[1] - pitches[0], 0.0], [0.0, axes[1] - axes[0]]])
    options = {
        "initial_simplex": np.array(first[:2]) + step,
        "xatol": 1e-4,
        "fatol": 1e-6,
        "maxfev": 40 if quick else 150,
    }
    found = minimize(cost, first[:2], method="Nelder-Mead", options=options)
    best = (float(found.x[0]), float(found.x[1]), first[2])
    end, least = responses(parameters, eom, [best], keep=True)[0]
    return Search(pitches, axes, ends, best, end, least)


def responses(
    parameters: Parameters, eom: EquationsOfMotion, choices: list[Choice], *, keep: bool = False
) -> list[tuple[float, float]]:
    """Return final and least distance of each posture; the final distance is NaN if the posture is not admissible."""
    states, places = [], []
    for k, (pitch, axis, side) in enumerate(choices):
        try:
            posture = find_posture(parameters, pitch=pitch, axis=axis, elbow_side=side)
        except ValueError:
            continue
        if max(map(abs, posture.rates)) <= parameters.rate_limit:  # near the straight arm rates grow without bound
            states.append(start(eom, posture))
            places.append(k)
    found = [(np.nan, np.nan)] * len(choices)
    if not states:
        return found
    batch = simulate_many(eom, x0=np.array(states), t_span=(0.0, parameters.duration), grid=101, rtol=1e-8, atol=1e-8)
    for k, x in zip(places, np.asarray(batch.x), strict=True):
        away = separation(parameters, eom, x)
        least = float(np.min(away))
        found[k] = (float(away[-1]) if keep or least >= CLEAR else np.nan, least)
    return found


def separation(parameters: Parameters, eom: EquationsOfMotion, x: np.ndarray) -> np.ndarray:
    """Return the distance of the centres of mass from the angles alone, shape (n,)."""
    q = {name: x[:, eom.states.index(name)] for name in ("base.angle", "shoulder", "elbow", "wrist")}
    angles = np.cumsum([q["base.angle"], q["shoulder"], q["elbow"], q["wrist"]], axis=0)
    lengths = (parameters.shoulder_offset, parameters.link_length, parameters.link_length, parameters.satellite_offset)
    arms = sum(length * np.exp(1j * angle) for length, angle in zip(lengths, angles, strict=True))
    return np.abs(arms)
