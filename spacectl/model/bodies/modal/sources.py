"""Sources of a `ModalBody` besides plain data: the mid-surface of a shell, a finite-element model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spacectl.model.bodies.fem.body import fem_data
from spacectl.model.bodies.fem.model import FemModel
from spacectl.model.bodies.surface.patch import SurfacePatch
from spacectl.model.bodies.surface.shell import shell_data

__all__ = ["ModalSources"]


class ModalSources:
    """Alternative constructors of a `ModalBody`."""

    @classmethod
    def from_surface(
        cls: Any,
        surface: SurfacePatch,
        *,
        name: str,
        thickness: float,
        E: float,
        density: float,
        nu: float = 0.3,
        edges: tuple[str, ...] = ("clamped", "free", "free", "free"),
        modes: int = 4,
        terms: Any = 12,
        rotary: bool = True,
        root: Any = (0.0, 0.0, 0.0),
        frames: Mapping[str, Any] | None = None,
        damping: Any = 0.0,
        order: str = "consistent",
    ) -> Any:
        """Make a flexible body from a thin shell: Kirchhoff-Love theory on its mid-surface, by Ritz's method.

        Parameters
        ----------
        surface : SurfacePatch
            The mid-surface over parameters (s, t).
        name : str
            Unique in the system.
        thickness, E, density : float
            Thickness [m], Young's modulus [Pa], mass per volume [kg/m^3].
        nu : float
            Poisson's ratio.
        edges : tuple of four str
            Conditions at s low, s high, t low, t high: ``"clamped"``, ``"supported"``, ``"diaphragm"`` (fixed
            along the edge and along the normal) or ``"free"``; ignored for a parameter in which the surface
            closes on itself.
        modes : int
            Number of modes.
        terms : int or pair of int
            Trial functions along s and t.
        rotary : bool
            Whether slices have rotary inertia.
        root : vector (3,)
            Point to which edges are fixed, where a joint may support the body [m].
        frames : dict of name to (s, t)
            Places on the surface that get a frame, with the body's axes.
        damping : float, array (m,), matrix (m, m) or Proportional
            Damping ratio(s), damping matrix, or ``alpha M + beta K``.
        order : str
            See docs/flexible.md.
        """
        data = shell_data(
            surface,
            what=f"ModalBody '{name}'",
            thickness=thickness,
            E=E,
            nu=nu,
            density=density,
            edges=edges,
            modes=modes,
            terms=terms,
            rotary=rotary,
            root=root,
            frames=frames or {},
        )
        return cls(name=name, damping=damping, order=order, **data)

    @classmethod
    def from_fem(
        cls: Any,
        model: FemModel,
        *,
        name: str,
        root: Any,
        interface: Mapping[str, Any] | None = None,
        modes: int = 6,
        frequency: float | None = None,
        geometric: Any = "matrices",
        frames: Mapping[str, Any] | None = None,
        damping: Any = 0.0,
        order: str = "consistent",
    ) -> Any:
        """Make a flexible body from a finite-element model by Craig-Bampton reduction.

        The body's frame is the root, with the axes of the model. Modal coordinates are the modes of the
        reduced model with the root fixed: as many as `modes` and six for each interface, scaled to a largest
        displacement of 1.

        Parameters
        ----------
        model : FemModel
            Mass and stiffness matrices of the free model, with its nodes.
        name : str
            Unique in the system.
        root : int, sequence of int or None
            Node, or nodes joined rigidly, of the body's joint. None: a floating body, for a `Free` joint.
        interface : dict of name to int or sequence of int
            Nodes where other parts are attached: each becomes a frame of that name with exact static response.
        modes : int
            Number of normal modes with root and interfaces fixed.
        frequency : float, optional
            Retain only modes of the reduced model up to this frequency [rad/s].
        geometric : "matrices", None or dict
            Second-order shapes: from the matrices themselves, none, or from geometric stiffness matrices for unit
            accelerations of the model: ``"x"`` uniform along x, ``"xy"`` along x growing with y from the root;
            stresses under the inertia forces.
        frames : dict of name to int or sequence of int
            Further nodes that get a frame, without modes of their own.
        damping : float, array (m,), matrix (m, m) or Proportional
            Damping ratio(s), damping matrix, or ``alpha M + beta K``.
        order : str
            See docs/flexible.md.
        """
        data = fem_data(
            model,
            what=f"ModalBody '{name}'",
            root=root,
            interface=interface or {},
            frames=frames or {},
            modes=modes,
            frequency=frequency,
            geometric=geometric,
        )
        return cls(name=name, damping=damping, order=order, **data)
