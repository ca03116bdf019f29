"""The orbiter with a two-link arm and a satellite on a tether, in its orbital plane (Sadigh 1995, section 6.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import Array
from spacectl.model.actuators import BodyTorque, JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import CircularOrbit
from spacectl.model.joints import Fixed, Joint, Revolute
from spacectl.model.library.rods import slender_rod
from spacectl.model.part import Part
from spacectl.model.sensors import Position
from spacectl.model.system import System
from spacectl.model.tethers import Tether
from spacectl.spatial.rotation import rotation_about

__all__ = ["TetherOrbiter"]


@dataclass(frozen=True, kw_only=True)
class TetherOrbiter:
    """Parameters of an orbiter with arm and tether, and systems made from them (Sadigh 1995, section 6.3.1).

    The spacecraft's centre of mass is fixed at the origin of the orbit frame; the arm begins there; the
    tether is straight and massless, the satellite a point. Angles of the tree (pitch, shoulder, elbow, swing)
    are relative, from the local vertical on, so that the tether's absolute angle is their sum. Inputs are the
    torques on the craft, at shoulder and elbow.

    Parameters
    ----------
    rate : float
        Orbital rate [rad/s], that of section 6.2 (section 6.3 publishes none).
    orbiter_mass : float
        Mass of the orbiter [kg].
    orbiter_inertia : tuple of float
        Principal moments [kg m^2].
    link_mass, link_length : float
        Mass [kg] and length [m] of each link.
    satellite_mass : float
        Mass of the satellite [kg].

    Examples
    --------
    >>> orbiter = TetherOrbiter()
    >>> orbiter.system(100.0).name
    'orbiter with arm and tether'
    >>> round(orbiter.coordinates(orbiter.FIXED_POINT)["swing"], 6)  # pi less the three other angles
    -1.570796
    """

    rate: float = 1e-3
    orbiter_mass: float = 1e5
    orbiter_inertia: tuple[float, float, float] = (9.68e6, 1.29e6, 10.1e6)
    link_mass: float = 20.0
    link_length: float = 8.13
    satellite_mass: float = 500.0

    #: coordinates of the tree, and inputs
    JOINTS: ClassVar[tuple[str, ...]] = ("pitch", "shoulder", "elbow", "swing")
    INPUTS: ClassVar[tuple[str, ...]] = ("craft", "shoulder", "elbow")
    #: 003 section 6.3.2: pitch, shoulder, elbow, absolute angle of the tether [rad]
    FIXED_POINT: ClassVar[tuple[float, ...]] = (0.5 * np.pi, 0.25 * np.pi, 0.75 * np.pi, np.pi)
    #: (pitch, shoulder, elbow, absolute angle of the tether) = ABSOLUTE @ (pitch, shoulder, elbow, swing)
    ABSOLUTE: ClassVar[Array] = Array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1]])

    def system(self, length: float | Callable[..., Any], *, is_locked: bool = False) -> System:
        """Return the system with a tether of given length [m], a number or a function of time (see `Tether`).

        With `is_locked` the arm's joints are welded at the fixed point. The sensor ``"end"`` is the arm's end.
        """
        end = (self.link_length, 0.0, 0.0)
        satellite = RigidBody(name="satellite", mass=self.satellite_mass, inertia=(0.0, 0.0, 0.0))
        craft = RigidBody(name="orbiter", mass=self.orbiter_mass, inertia=self.orbiter_inertia)
        torques = () if is_locked else tuple(JointTorque(joint=name) for name in ("shoulder", "elbow"))
        return System(
            name="orbiter with arm and tether",
            environment=CircularOrbit(rate=self.rate),
            parts=(
                Part(craft, on="orbit", joint=Revolute(name="pitch", axis="z")),
                Part(self._link("upper"), on="orbiter", **_joint("shoulder", self.FIXED_POINT[1], is_locked)),
                Part(self._link("lower"), on="upper.end", **_joint("elbow", self.FIXED_POINT[2], is_locked)),
                Part(satellite, on="line"),
            ),
            elements=(Tether(name="line", on="lower", at=end, length=length, joint=Revolute(name="swing", axis="z")),),
            actuators=(BodyTorque(name="craft", on="orbiter", direction="z"), *torques),
            sensors=(Position(name="end", on="lower.end"),),
        )

    @classmethod
    def coordinates(cls, angles: Any) -> dict[str, float]:
        """Return coordinates of the tree by name from (pitch, shoulder, elbow, absolute tether angle) [rad]."""
        return dict(
            zip(cls.JOINTS, np.linalg.solve(np.asarray(cls.ABSOLUTE), np.asarray(angles)).tolist(), strict=True)
        )

    @classmethod
    def absolute_angles(cls, x: Any) -> np.ndarray:
        """Return pitch, shoulder, elbow and absolute tether angle, shape (..., 4), of states, shape (..., 8) [rad]."""
        return np.asarray(x)[..., :4] @ np.asarray(cls.ABSOLUTE).T

    @classmethod
    def libration(cls, x: Any) -> np.ndarray:
        """Return the tether angle relative to the fixed point, shape (...), of states, shape (..., 8) [rad]."""
        return np.asarray(cls.absolute_angles(x)[..., 3] - cls.FIXED_POINT[3])

    def _link(self, name: str) -> RigidBody:
        return slender_rod(name, self.link_length, self.link_mass, "end")


def _joint(name: str, angle: float, is_locked: bool) -> dict[str, Joint | Any]:
    if is_locked:
        return {"joint": Fixed(), "rotation": rotation_about("z", angle)}
    return {"joint": Revolute(name=name, axis="z")}
