"""spacectl: control design for space manipulators, flexible spacecraft and tethers.

Describe a system once as data, form its equations, design a law, simulate the closed loop, write a report:

    eom = form_equations(system)
    law = design_pd(eom, kp=..., kd=...)
    sim = simulate(eom, law, x0=..., t_span=(0.0, 60.0))
    write_report(sim, "report.html")
"""

from spacectl.controllers import design_pd
from spacectl.core.accessor import Accessor
from spacectl.core.array import Array
from spacectl.core.control_law import CallableLaw, ControlLaw, make_law
from spacectl.core.errors import ModelError, ShapeError, SolverError, SpacectlError
from spacectl.core.figure import Band, Figure, Line, Panel
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome, Status
from spacectl.core.study import Study, StudyResult
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics import EquationsOfMotion, form_equations
from spacectl.linear.linear_model import LinearModel
from spacectl.linear.linearize import linearize
from spacectl.linear.modes import Modes, modes
from spacectl.linear.operating_point import OperatingPoint, find_operating_point
from spacectl.model import library
from spacectl.model.actuators import BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel, Thruster
from spacectl.model.environment import CentralGravity, CircularOrbit, FreeSpace, UniformGravity
from spacectl.model.files import load_system, save_system
from spacectl.model.joints import Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.sensors import Acceleration, AngularVelocity, Attitude, Position, Velocity
from spacectl.model.system import Part, System
from spacectl.reports import write_report
from spacectl.simulation import (
    Guard,
    Simulation,
    SimulationBatch,
    load_batch,
    load_simulation,
    simulate,
    simulate_many,
)
from spacectl.spatial.rotation import rotation_about

__version__ = "0.1.0"

__all__ = [
    "Acceleration",
    "Accessor",
    "AngularVelocity",
    "Array",
    "Attitude",
    "Band",
    "BodyForce",
    "BodyTorque",
    "CallableLaw",
    "CentralGravity",
    "CircularOrbit",
    "ControlLaw",
    "Cylindrical",
    "EquationsOfMotion",
    "Figure",
    "Fixed",
    "Frame",
    "Free",
    "FreeSpace",
    "Guard",
    "JointForce",
    "JointTorque",
    "Labels",
    "Line",
    "LinearModel",
    "ModelError",
    "Modes",
    "OperatingPoint",
    "Outcome",
    "Panel",
    "Part",
    "Planar",
    "Position",
    "Prismatic",
    "ReactionWheel",
    "Revolute",
    "RigidBody",
    "ShapeError",
    "Simulation",
    "SimulationBatch",
    "SolverError",
    "SpacectlError",
    "Spherical",
    "Status",
    "Study",
    "StudyResult",
    "System",
    "Thruster",
    "Trajectory",
    "UniformGravity",
    "Universal",
    "Velocity",
    "design_pd",
    "find_operating_point",
    "form_equations",
    "library",
    "linearize",
    "load_batch",
    "load_simulation",
    "load_system",
    "make_law",
    "modes",
    "rotation_about",
    "save_system",
    "simulate",
    "simulate_many",
    "write_report",
]
