"""`NamedStates`: names, sizes and states of equations of motion, from their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.functions import EquationLabels

__all__ = ["NamedStates"]


class NamedStates:
    """What labels say about equations: names and numbers of coordinates, speeds, states, inputs and outputs; states by name."""

    labels: EquationLabels
    quaternions: tuple[int, ...]
    x_rest: Any

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q."""
        return self.labels.q.names

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of v."""
        return self.labels.v.names

    @property
    def states(self) -> tuple[str, ...]:
        """Names of x = (q, v)."""
        return self.labels.x.names

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of u."""
        return self.labels.u.names

    @property
    def n_q(self) -> int:
        """Number of coordinates."""
        return len(self.labels.q)

    @property
    def n_v(self) -> int:
        """Number of speeds."""
        return len(self.labels.v)

    @property
    def n_x(self) -> int:
        """Number of states."""
        return self.n_q + self.n_v

    @property
    def n_u(self) -> int:
        """Number of inputs."""
        return len(self.labels.u)

    @property
    def n_y(self) -> int:
        """Number of outputs."""
        return len(self.labels.y)

    def state(self, base: Any = None, /, **named: float) -> np.ndarray:
        """Return a state x, shape (n_x,), from named coordinates and speeds; the others are at rest (or as in `base`).

        Names with a dot are passed as ``**{"base.x": 1.0}``.
        """
        x = self.labels.x.vector(named, default=np.asarray(self.x_rest if base is None else base))
        if not np.all(np.isfinite(x)):
            bad = self.states[int(np.flatnonzero(~np.isfinite(x))[0])]
            raise ModelError(f"state '{bad}' is {x[self.labels.x.index(bad)]}; give finite SI numbers")
        for k in self.quaternions:
            length = float(np.linalg.norm(x[k : k + 4]))
            if not length > 0.0:
                raise ModelError(
                    f"quaternion '{self.states[k]}' has norm 0; give the four entries of a unit quaternion"
                )
            x[k : k + 4] /= length
        return x

    def named(self, x: Any) -> dict[str, float]:
        """Return the state as a dictionary."""
        return self.labels.x.named(x)
