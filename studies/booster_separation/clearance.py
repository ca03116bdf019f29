"""Clearances of the boosters from the core and from each other, with spheres along the axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl import EquationsOfMotion, StagedSimulation

from .model import BOOSTERS, Parameters, ball_in_booster
from .separation import event_times

POINTS = 25  # along the axis of a booster
DELAY = 0.25  # [s] after a booster is released; from then on its nose must have left the core


@dataclass(frozen=True)
class Clearance:
    """Clearances over time.

    `core` [m], (n, 4): least gap between the skins of each booster and the core, NaN before the booster is released;
    `ball` [m], (n, 4): that of its ball alone; `between` [m], (n, 4): that of neighbours; `since` [s], (n, 4): time
    since its release;
    `core_turn` [rad]: largest angle by which the core has turned.
    """

    core: np.ndarray
    ball: np.ndarray
    between: np.ndarray
    since: np.ndarray
    core_turn: float

    @property
    def least(self) -> float:
        """Return the least gap to the core from `DELAY` after each release on, and between neighbours [m]."""
        later = np.where(self.since >= DELAY, self.core, np.inf)
        return float(min(np.min(later), np.min(self.between)))

    @property
    def recontact(self) -> float:
        """Return the depth by which the ball of a released booster re-enters the core [m]; zero without a second contact."""
        return float(max(0.0, -np.nanmin(self.ball)))


def points_in_core(parameters: Parameters, eom: EquationsOfMotion, sim: StagedSimulation) -> np.ndarray:
    """Return points on the axes of the boosters in the core's frame, (n, 4, POINTS, 3)."""
    places = eom.along("placements", sim.t, sim.x)
    R, p = places[:, :, :9].reshape(len(sim.t), -1, 3, 3), places[:, :, 9:]
    along = np.linspace(parameters.booster_centre, parameters.booster_centre - parameters.booster_length, POINTS)
    world = p[:, 1:, None, :] + along[None, None, :, None] * R[:, 1:, None, :, 0]
    return np.einsum("nji,nbkj->nbki", R[:, 0], world - p[:, :1, None, :])


def radii(parameters: Parameters) -> np.ndarray:
    """Return the radius of a booster along its axis [m]: a cone whose skin meets the ball joint."""
    return np.linspace(parameters.thrust_offset, parameters.booster_radius, POINTS)


def ball_gap(parameters: Parameters, eom: EquationsOfMotion, sim: StagedSimulation) -> np.ndarray:
    """Return the distance of each ball from the skin of the core [m], (n, 4)."""
    places = eom.along("placements", sim.t, sim.x)
    R, p = places[:, :, :9].reshape(len(sim.t), -1, 3, 3), places[:, :, 9:]
    world = p[:, 1:] + np.einsum("nbij,j->nbi", R[:, 1:], ball_in_booster(parameters))
    seen = np.einsum("nji,nbj->nbi", R[:, 0], world - p[:, :1])
    return np.hypot(seen[..., 1], seen[..., 2]) - parameters.core_radius


def measure(parameters: Parameters, eom: EquationsOfMotion, sim: StagedSimulation) -> Clearance:
    """Return the clearances over a run."""
    points, size = points_in_core(parameters, eom, sim), radii(parameters)
    bottom = (
        -parameters.core_centre - parameters.booster_length
    )  # the aft end of the core is level with that of the boosters
    gap = np.hypot(points[..., 1], points[..., 2]) - size - parameters.core_radius
    gap = np.where(points[..., 0] >= bottom - size, gap, np.inf)  # no contact is possible behind the core
    since = sim.t[:, None] - event_times(sim, "lambda 2 is zero")[None, :]
    ball = ball_gap(parameters, eom, sim)
    core = np.where(since >= 0.0, np.minimum(np.min(gap[..., 1:], axis=2), ball), np.nan)
    ball = np.where(since >= 0.0, ball, np.nan)
    pairs = [(k, (k + 1) % len(BOOSTERS)) for k in range(len(BOOSTERS))]
    between = [_apart(points[:, a], points[:, b], size) for a, b in pairs]
    turn = 2.0 * np.arcsin(np.clip(np.linalg.norm([sim[f"core.q{axis}"] for axis in "xyz"], axis=0), 0.0, 1.0))
    return Clearance(core, ball, np.array(between).T, since, float(np.max(turn)))


def _apart(one: np.ndarray, other: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the least distance between two series of spheres over time, shape (n,)."""
    distance = np.linalg.norm(one[:, :, None, :] - other[:, None, :, :], axis=3)
    return np.min(distance - size[:, None] - size[None, :], axis=(1, 2))
