"""`ElasticTether`: point masses joined by tension-only strings between any two frames, reeled at the first.

In a system it adds the masses (bodies ``"<name>_1"``, ... with coordinates in root axes), the stored line, and the
forces between them. See docs/tethers.md for the derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, always, set_field, set_scalars, unless_trivial
from spacectl.model.elements import one_sided, one_sided_kinks
from spacectl.model.joints import Cartesian
from spacectl.model.tethers.line import LineMass, above
from spacectl.model.tethers.line_element import LineElement
from spacectl.spatial.backend import dot

__all__ = ["ElasticTether"]

_MOST = 10_000  # masses of a line; with more, forming equations takes hours


@dataclass(frozen=True, kw_only=True)
class ElasticTether(LineElement):
    """A line of n equal point masses and tension-only strings from a drum to any body or frame.

    Mass j is in the middle of the j-th of n equal pieces of the deployed line, so that the first and last
    strings are half as long as the others. The tension of each string is ``T = stiffness e + damping e_dot``
    of its strain e, and zero while it is slack. While the line is reeled, all pieces change their length
    equally: a mass is then a place through which line flows, its speeds are those of the line there, and its
    coordinates follow ``x_dot = v - X``. The flow transports momentum from piece to piece; total linear and
    angular momentum are conserved exactly, for any n.

    Parameters
    ----------
    to : str
        Carrier of the far end: a body or ``"body.frame"`` (or ``"world"``).
    to_at : vector, shape (3,)
        End point in the axes of that frame [m].
    masses : int
        n, 0 or more; 0 for a single massless string.
    stiffness : float
        E A, force per unit strain [N], positive.
    damping : float
        Force per unit strain rate [N s], 0 or more.

    Examples
    --------
    >>> line = ElasticTether(name="line", on="orbiter", to="satellite", length=100.0, density=0.01, masses=4, stiffness=5e3)
    >>> line.fractions
    (0.125, 0.375, 0.625, 0.875)
    """

    to: str
    to_at: Any = (0.0, 0.0, 0.0)
    masses: int = 0
    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "to_at", as_array(self.to_at, (3,), f"{self._what}: to_at"))
        set_scalars(self, self._what, "stiffness")
        set_scalars(self, self._what, "damping", sign="not negative", unit=" N s")
        if not self.stiffness > 0.0:
            raise ModelError(f"{self._what}: stiffness is {self.stiffness:g} N, expected a positive number (E times A)")
        if isinstance(self.masses, bool) or not isinstance(self.masses, int) or self.masses < 0:
            raise ModelError(f"{self._what}: masses is {self.masses!r}, expected a whole number, 0 or more")
        if self.masses > _MOST:
            raise ModelError(f"{self._what}: masses is {self.masses}, expected {_MOST} at most")
        if (self.masses > 0) != (self.density > 0.0):
            raise ModelError(
                f"{self._what}: {self.masses} masses and a density of {self.density:g} kg/m; a line with mass needs masses, "
                "a massless one has none"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the masses, from the drum to the end."""
        return tuple(f"{self.name}_{k + 1}" for k in range(self.masses))

    @property
    def fractions(self) -> tuple[float, ...]:
        """Place of each mass on the deployed line, from 0 at the drum to 1 at the end."""
        return tuple((k + 0.5) / self.masses for k in range(self.masses))

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        return ((self.on, "at"), *((name, "") for name in self.names), (self.to, "to_at"))

    @property
    def is_objective(self) -> bool:
        return not self.masses

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.profile, self.masses)

    def numbers(self) -> dict[str, Number]:
        ends = {"at": unless_trivial(self.at), "to_at": unless_trivial(self.to_at)}
        law = {"stiffness": always(self.stiffness), **({"damping": always(self.damping)} if self.damping else {})}
        return {**super().numbers(), **ends, **law}

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        nodes = [LineMass(name=name, line=self.name, count=self.masses) for name in self.names]
        return (*((node, {"on": "world", "joint": Cartesian()}) for node in nodes), *self._spool_part)

    def tensions(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        return [one_sided(strain, pull) for strain, pull in self._pulls(p, v, t, n)]

    def kinks(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        pulls = self._pulls(p, v, t, n)
        return [kink for strain, pull in pulls for kink in one_sided_kinks(strain, pull, "damping" in n)]

    def _pulls(self, p: Sequence[Any], v: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return the strain and the two-sided force of each string."""
        pulls = []
        length, length_dot = self._length(t, n)
        for k, (strain, share) in enumerate(zip(self.strains(p, t, n), self._shares, strict=True)):
            pull = n["stiffness"] * strain
            if "damping" in n:
                r = p[k + 1] - p[k]
                speed = dot(r, v[k + 1] - v[k]) / ca.sqrt(dot(r, r))
                if k == 0:  # the line leaves the drum with its strain
                    speed = speed - length_dot * (1.0 + strain)
                pull = pull + n["damping"] * speed / (share * length)
            pulls.append((strain, pull))
        return pulls

    def strains(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> list[Any]:
        length = above(self._length(t, n)[0], n["shortest"])
        pieces = zip(p[:-1], p[1:], self._shares, strict=True)
        return [ca.sqrt(dot(b - a, b - a)) / (share * length) - 1.0 for a, b, share in pieces]

    def forces(self, p: Sequence[Any], v: Sequence[Any], rate: Any | None, t: Any, n: Mapping[str, Any]) -> list[Any]:
        forces = [0.0 * place for place in p]
        for k, pull in enumerate(self.tensions(p, v, t, n)):
            r = p[k + 1] - p[k]
            force = pull / ca.sqrt(dot(r, r)) * r
            forces[k], forces[k + 1] = forces[k] + force, forces[k + 1] - force
        for k, flow in enumerate(self._flows(t, n)):
            # line passes from point k to k + 1 with the mean velocity; out of the drum, with that of the first mass
            change = v[k] - v[k + 1]
            if k == 0:
                forces[0] = forces[0] + flow * change
            else:
                forces[k], forces[k + 1] = forces[k] + 0.5 * flow * change, forces[k + 1] + 0.5 * flow * change
        return forces

    def potential(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> Any:
        length, stored = self._length(t, n)[0], 0.0
        for strain, share in zip(self.strains(p, t, n), self._shares, strict=True):
            stored = stored + 0.5 * n["stiffness"] * share * length * ca.fmax(strain, 0.0) ** 2
        return stored

    def drift(self, p: Sequence[Any], t: Any, n: Mapping[str, Any]) -> dict[str, Any]:
        """Return the velocity of the line through each mass, with which the mass flow conserves angular momentum."""
        flows = [*self._flows(t, n), 0.0]
        if len(flows) == 1:
            return {}
        mass = n["density"] * self._length(t, n)[0] / self.masses
        rates = {}
        for k, name in enumerate(self.names, start=1):
            before = (1.0 if k == 1 else 0.5) * flows[k - 1] * (p[k] - p[k - 1])
            rates[name] = (before + 0.5 * flows[k] * (p[k + 1] - p[k])) / mass
        return rates

    def straight(
        self, start: Any, end: Any, *, start_rate: Any = 0.0, end_rate: Any = 0.0, t: float = 0.0
    ) -> dict[str, float]:
        """Return the coordinates and speeds of the masses, by name, on a straight line between two moving points.

        Parameters
        ----------
        start, end : vector, shape (3,)
            The two ends, root axes [m].
        start_rate, end_rate : vector, shape (3,)
            Their velocities relative to the root [m/s].
        t : float
            Time, for a length that changes [s].
        """
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        length, rate = (self.length, 0.0) if self.profile is None else self.profile(t)[:2]
        state: dict[str, float] = {}
        for name, place in zip(self.names, self.fractions, strict=True):
            where = a + place * (b - a)
            speed = np.broadcast_to(start_rate, 3) * (1.0 - place) + np.broadcast_to(end_rate, 3) * place
            speed = speed + (1.0 - place) * rate / length * (b - a)
            for axis, x, x_dot in zip("xyz", where, speed, strict=True):
                state |= {f"{name}.{axis}": float(x), f"{name}.{axis}_dot": float(x_dot)}
        return state

    @property
    def _shares(self) -> tuple[float, ...]:
        """Fraction of the natural length of each string."""
        places = (0.0, *self.fractions, 1.0)
        return tuple(b - a for a, b in zip(places[:-1], places[1:], strict=True))

    def _flows(self, t: Any, n: Mapping[str, Any]) -> list[Any]:
        """Return the mass flow through the faces of the pieces, drum first [kg/s]; empty for a constant length."""
        if not isinstance(self.length, TimeExpression) or not self.masses:
            return []
        total = n["density"] * self._length(t, n)[1]
        return [total * (1.0 - k / self.masses) for k in range(self.masses)]

    def _length(self, t: Any, n: Mapping[str, Any]) -> tuple[Any, Any]:
        return (n["length"], 0.0) if self.profile is None else self.profile(t)[:2]
