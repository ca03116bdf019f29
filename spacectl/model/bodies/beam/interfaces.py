"""Source of the shapes of a `Beam`, and its interfaces."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from spacectl.model.bodies.base.interfaced import ChoosesBasis
from spacectl.model.bodies.base.interfaces import Compliance
from spacectl.model.bodies.beam.basis import BeamKind, beam_kinds

__all__ = ["BeamInterfaces"]


class BeamInterfaces(ChoosesBasis):
    """Shapes and interfaces of a beam."""

    bending: tuple[str, ...]
    EI: Any
    root: str
    tip: str
    tip_mass: float
    tip_inertia: Any
    elasticity: Any

    @property
    def chooses_shapes(self) -> bool:
        has_own_ends = (self.root, self.tip) != ("clamped", "free") or self.tip_mass or np.any(self.tip_inertia)
        is_string = self.bending and not self.EI  # a string has no rotation for attachments
        is_open = self.shapes == "auto" and not has_own_ends and not is_string
        return is_open or (self.shapes == "interface" and not self.interfaces)

    @property
    def shapes_needed(self) -> str:
        """Numbers of shapes with which the static compliance at all interfaces is exact."""
        needed = {kind.name: kind.n_static(self.interface_directions, self.frame_places) for kind in self.kinds}
        bending = [n for name, n in needed.items() if name.startswith("bending")]
        counts = {
            "modes": max(bending, default=0),
            "torsion": needed.get("torsion"),
            "extension": needed.get("extension"),
        }
        return ", ".join(f"{key}={n}" for key, n in counts.items() if n)

    @cached_property
    def kinds(self) -> tuple[BeamKind, ...]:
        """Shapes of bending, torsion and extension."""
        return beam_kinds(self)

    @property
    def frame_places(self) -> dict[str, float]:
        """Place of each frame along the beam [m]."""
        return {frame.name: float(np.asarray(frame.at)[0]) for frame in self.frames}

    def interface_point(self, position: np.ndarray) -> np.ndarray:
        return np.array([position[0], 0.0, 0.0])

    @property
    def kind_slices(self) -> tuple[slice, ...]:
        """Place of each kind of deformation among the modal coordinates."""
        counts = [len(kind.shapes) for kind in self.kinds]
        ends = np.cumsum(counts)
        return tuple(slice(int(end - n), int(end)) for n, end in zip(counts, ends, strict=True))

    @property
    def lowest_frequencies(self) -> tuple[float, ...]:
        """Lowest natural frequency of each kind of deformation [rad/s]."""
        K, M = self.elasticity, self.mode_mass
        pairs = ((K[own, own], M[own, own]) for own in self.kind_slices)
        return tuple(float(np.sqrt(np.min(eigvalsh(*pair)))) for pair in pairs)

    @cached_property
    def compliances(self) -> tuple[Compliance, ...]:
        places = (self.interface_directions, self.frame_places)
        pairs = zip(self.kinds, self.kind_slices, strict=True)
        return tuple(item for kind, own in pairs for item in kind.compliances(*places, self.elasticity[own, own]))

    @cached_property
    def mode_mass(self) -> np.ndarray:
        if not all(kind.mass is not None for kind in self.kinds):
            return super().mode_mass  # type: ignore[misc]
        return np.diag(np.concatenate([kind.mass for kind in self.kinds]))
