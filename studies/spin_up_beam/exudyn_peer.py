"""The same spin-up with geometrically exact beam elements of Exudyn (extra `crosscheck`)."""

from __future__ import annotations

from importlib import import_module, util
from typing import Any

import numpy as np

from .model import turned

MISSING = "Exudyn is not installed, so exudyn_max_difference is null; install the extra spacectl[crosscheck]."


def is_installed() -> bool:
    """Return whether Exudyn can be imported."""
    return util.find_spec("exudyn") is not None


def spin_up_exudyn(parameters: Any, *, elements: int, step: float, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times and displacement of the tip in the hub's frame (along, across) [m], by two-node exact elements.

    The root node is fixed, its rotation prescribed. Shear stiffness and rotary inertia are those of Simo and Vu-Quoc; they
    change the deflection by ``EI / (GA L^2)``, about 1e-5. Generalised-alpha steps with Newton's tolerance 1e-5: tighter ones are
    below the rounding of Exudyn's numerical Jacobian.
    """
    exu, items = import_module("exudyn"), import_module("exudyn.itemInterface")
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    length = parameters.length / elements
    ground = mbs.AddNode(items.NodePointGround())
    fixed = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    nodes = [
        mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[k * length, 0.0, 0.0])) for k in range(elements + 1)
    ]
    for pair in zip(nodes[:-1], nodes[1:], strict=True):
        mbs.AddObject(
            items.ObjectBeamGeometricallyExact2D(
                nodeNumbers=list(pair),
                length=length,
                massPerLength=parameters.density,
                crossSectionInertia=parameters.rotary,
                bendingStiffness=parameters.EI,
                axialStiffness=parameters.EA,
                shearStiffness=parameters.GA,
            )
        )

    def angle(mbs: Any, t: float, item: int, offset: float) -> float:
        return float(turned(parameters, t, lambda test, a, b: a if test else b))

    for coordinate in range(3):
        root = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=coordinate))
        rule = {"offsetUserFunction": angle} if coordinate == 2 else {}
        mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[fixed, root], **rule))
    kind = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(items.SensorNode(nodeNumber=nodes[-1], outputVariableType=kind, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.numberOfSteps, time.endTime = round(duration / step), duration
    time.generalizedAlpha.spectralRadius = 0.9
    time.newton.useModifiedNewton = True
    time.newton.relativeTolerance, time.newton.absoluteTolerance = 1e-5, 1e-6
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = 0.02
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
    data = mbs.GetSensorStoredData(sensor)
    t, p = data[:, 0], data[:, 1:3]
    a = np.array([angle(mbs, float(now), 0, 0.0) for now in t])
    along = p[:, 0] * np.cos(a) + p[:, 1] * np.sin(a) - parameters.length
    return t, np.stack([along, -p[:, 0] * np.sin(a) + p[:, 1] * np.cos(a)], axis=1)
