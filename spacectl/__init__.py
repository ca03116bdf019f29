"""spacectl: control design for space manipulators, flexible spacecraft and tethers.

Describe a system once as data, form its equations, design a law, simulate the closed loop, write a report:

    eom = form_equations(system)
    law = design_pd(eom, kp=..., kd=...)
    sim = simulate(eom, law, x0=..., t_span=(0.0, 60.0))
    write_report(sim, "report.html")
"""

from spacectl.controllers import (
    KalmanFilter,
    LinearizationReport,
    LqgLaw,
    LqrLaw,
    LqrTrajectoryLaw,
    RestToRest,
    Shaper,
    Spillover,
    SpilloverMode,
    TrackingReport,
    VibrationLaw,
    add_dead_zone,
    add_delay,
    add_low_pass,
    add_noise,
    add_notch,
    check_spillover,
    combine_shapers,
    design_attitude_filter,
    design_kalman,
    design_lqg,
    design_lqr,
    design_lqr_along,
    design_pd,
    design_shaper,
    draw_sensitivity,
    limit_rate,
    prevent_windup,
    quantize,
    reseed,
    saturate,
    shape_command,
    shape_modes,
    shape_trajectory,
    smoothed_bang_bang,
    suppress_vibration,
)
from spacectl.controllers.artificial_constraint import ArtificialConstraintTracking
from spacectl.controllers.feedback_linearization import FeedbackLinearization, ModifiedFeedbackLinearization
from spacectl.core.accessor import Accessor
from spacectl.core.array import Array
from spacectl.core.control_law import CallableLaw, ControlLaw, make_law
from spacectl.core.errors import ModelError, ShapeError, SolverError, SpacectlError
from spacectl.core.figure import Band, Figure, Line, Panel, Region
from spacectl.core.keywords import suggest_keywords
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome, Status
from spacectl.core.printed import Printed
from spacectl.core.requirement import Requirement, parse_requirement
from spacectl.core.shape import Shape
from spacectl.core.study import Study, StudyResult
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics import (
    Correction,
    EquationsOfMotion,
    correction_terms,
    find_tension,
    form_equations,
    watch_stretch,
)
from spacectl.dynamics.absolute_state import absolute_state
from spacectl.dynamics.adequacy import AdequacyReport, ConstraintForceTerms, check_adequacy, constraint_force_terms
from spacectl.dynamics.base_wrench import find_base_wrench
from spacectl.dynamics.closure import ClosedLoop, ClosedState, close_loops
from spacectl.dynamics.consistent import ConsistentState, make_consistent
from spacectl.dynamics.constraints.diagnosis import ConstraintReport, diagnose_constraints
from spacectl.dynamics.embedded_mass import EmbeddedMass, factor_mass
from spacectl.dynamics.tree_correction import TreeCorrection, correct_tree
from spacectl.dynamics.uniqueness import Uniqueness, find_uniqueness
from spacectl.dynamics.waist.options import Baumgarte
from spacectl.dynamics.workspace import close_positions
from spacectl.dynamics.wrenches import find_constraint_wrenches
from spacectl.interop.control import to_nonlinear_control
from spacectl.linear.along import linearize_along
from spacectl.linear.campbell import campbell
from spacectl.linear.campbell_result import Campbell, Crossing, Instability
from spacectl.linear.classical import ClassicalMargins, classical_margins
from spacectl.linear.controllability import (
    Controllability,
    Observability,
    check_controllability,
    check_observability,
    require_detectable,
    require_stabilizable,
)
from spacectl.linear.floquet import Floquet, floquet
from spacectl.linear.linear_model import LinearModel
from spacectl.linear.linear_trajectory import LinearTrajectory
from spacectl.linear.linearize import linearize
from spacectl.linear.locked import find_locked_frequencies
from spacectl.linear.margins import DiskMargin, DiskMargins, disk_margins, perturbed_poles
from spacectl.linear.mode_margins import WeakMode
from spacectl.linear.modes import Modes, modes
from spacectl.linear.norms import SystemNorm, h2_norm, h_infinity_norm
from spacectl.linear.operating_point import OperatingPoint, find_operating_point
from spacectl.linear.reduce import Reduction, reduce_balanced, reduce_modal
from spacectl.linear.tangent import displace_state, subtract_states
from spacectl.maneuvers.compare import ManeuverComparison, ManeuverRow, compare_maneuvers, compare_near_minimum_time
from spacectl.maneuvers.measure import Flight, measure_flight
from spacectl.maneuvers.near_minimum_time import Maneuver, fly_plan, plan_near_minimum_time
from spacectl.maneuvers.shaped import shape_motion, shape_plan
from spacectl.model import library
from spacectl.model.actuators import BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel, Thruster
from spacectl.model.actuators.distributed_force import DistributedForce, DistributedTorque
from spacectl.model.attachments import find_compliances
from spacectl.model.bodies.base.effective_masses import EffectiveMasses, effective_masses
from spacectl.model.bodies.base.flexible import Proportional
from spacectl.model.bodies.base.interfaces import Compliance
from spacectl.model.bodies.base.profile import Profile
from spacectl.model.bodies.base.surface_mesh import SurfaceMesh
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.fem.files import load_fem, read_matrix_market, save_fem
from spacectl.model.bodies.fem.model import FemModel
from spacectl.model.bodies.fem.nastran import read_nastran
from spacectl.model.bodies.modal.modal import ModalBody
from spacectl.model.bodies.plate.plate import Plate
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.bodies.surface.patch import SurfacePatch
from spacectl.model.bodies.surface.shell_elements import assemble_shell
from spacectl.model.constraints import Artificial, Constraint, Loop, Natural, NoRelativeRotation, PointOnPlane
from spacectl.model.counterpart import rigid_counterpart
from spacectl.model.elements import JointSpring, SpringDamper
from spacectl.model.elements.drive import Drive
from spacectl.model.elements.drive_laws import Friction, HardeningSpring, Stiction
from spacectl.model.environment import CentralGravity, CircularOrbit, FreeSpace, UniformGravity
from spacectl.model.files import load_system, save_system
from spacectl.model.joints import Cartesian, Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.redundant import QuaternionFree
from spacectl.model.sensors import Acceleration, AngularVelocity, Attitude, Position, Velocity
from spacectl.model.system import Part, System
from spacectl.model.tethers import Tether
from spacectl.model.tethers.elastic_tether import ElasticTether
from spacectl.planners.bang_bang import plan_bang_bang
from spacectl.planners.collocation import plan_collocation
from spacectl.planners.curves import ArcCurve, BlendCurve, LineCurve, SplineCurve
from spacectl.planners.keep_out import keep_out_box, keep_out_sphere
from spacectl.planners.limits import AccelerationLimits, FlexibleJointLimit, GraspLimit, SpeedLimits, TorqueLimits
from spacectl.planners.mesh import Refinement
from spacectl.planners.path import ImplicitPath, JointPath, SlewPath, TaskPath
from spacectl.planners.path_check import PathReport, check_path
from spacectl.planners.path_choice import PathChoice, choose_path
from spacectl.planners.path_solve import SolvedPath, solve_path
from spacectl.planners.phase_figure import draw_phase_plane
from spacectl.planners.phase_plane import PhasePlane, plan_phase_plane
from spacectl.planners.phase_points import SwitchPoint
from spacectl.planners.plan import Arc, Plan
from spacectl.planners.problem import Condition, Phases, Problem
from spacectl.planners.reachability import plan_reachability
from spacectl.planners.replay import refly, replay
from spacectl.planners.schemes import HermiteSimpson, Radau
from spacectl.reports import write_report
from spacectl.simulation import (
    Exit,
    Guard,
    Impact,
    Impulse,
    Simulation,
    SimulationBatch,
    Stage,
    StagedSimulation,
    StageProduct,
    Transition,
    combine_stages,
    find_impulse,
    load_batch,
    load_simulation,
    simulate,
    simulate_many,
    simulate_stages,
)
from spacectl.spatial.rotation import rotation_about

__version__ = "0.1.0"

__all__ = [
    "Acceleration",
    "AccelerationLimits",
    "Accessor",
    "AdequacyReport",
    "AngularVelocity",
    "Arc",
    "ArcCurve",
    "Array",
    "Artificial",
    "ArtificialConstraintTracking",
    "Attitude",
    "Band",
    "Baumgarte",
    "Beam",
    "BlendCurve",
    "BodyForce",
    "BodyTorque",
    "CallableLaw",
    "Campbell",
    "Cartesian",
    "CentralGravity",
    "CircularOrbit",
    "ClassicalMargins",
    "ClosedLoop",
    "ClosedState",
    "Compliance",
    "Condition",
    "ConsistentState",
    "Constraint",
    "ConstraintForceTerms",
    "ConstraintReport",
    "ControlLaw",
    "Controllability",
    "Correction",
    "Crossing",
    "Cylindrical",
    "DiskMargin",
    "DiskMargins",
    "DistributedForce",
    "DistributedTorque",
    "Drive",
    "EffectiveMasses",
    "ElasticTether",
    "EmbeddedMass",
    "EquationsOfMotion",
    "Exit",
    "FeedbackLinearization",
    "FemModel",
    "Figure",
    "Fixed",
    "FlexibleJointLimit",
    "Flight",
    "Floquet",
    "Frame",
    "Free",
    "FreeSpace",
    "Friction",
    "GraspLimit",
    "Guard",
    "HardeningSpring",
    "HermiteSimpson",
    "Impact",
    "ImplicitPath",
    "Impulse",
    "Instability",
    "JointForce",
    "JointPath",
    "JointSpring",
    "JointTorque",
    "KalmanFilter",
    "Labels",
    "Line",
    "LineCurve",
    "LinearModel",
    "LinearTrajectory",
    "LinearizationReport",
    "Loop",
    "LqgLaw",
    "LqrLaw",
    "LqrTrajectoryLaw",
    "Maneuver",
    "ManeuverComparison",
    "ManeuverRow",
    "ModalBody",
    "ModelError",
    "Modes",
    "ModifiedFeedbackLinearization",
    "Natural",
    "NoRelativeRotation",
    "Observability",
    "OperatingPoint",
    "Outcome",
    "Panel",
    "Part",
    "PathChoice",
    "PathReport",
    "PhasePlane",
    "Phases",
    "Plan",
    "Planar",
    "Plate",
    "PointOnPlane",
    "Position",
    "Printed",
    "Prismatic",
    "Problem",
    "Profile",
    "Proportional",
    "QuaternionFree",
    "Radau",
    "ReactionWheel",
    "Reduction",
    "Refinement",
    "Region",
    "Requirement",
    "RestToRest",
    "Revolute",
    "RigidBody",
    "Shape",
    "ShapeError",
    "Shaper",
    "Simulation",
    "SimulationBatch",
    "SlewPath",
    "SolvedPath",
    "SolverError",
    "SpacectlError",
    "SpeedLimits",
    "Spherical",
    "Spillover",
    "SpilloverMode",
    "SplineCurve",
    "SpringDamper",
    "Stage",
    "StageProduct",
    "StagedSimulation",
    "Status",
    "Stiction",
    "Study",
    "StudyResult",
    "SurfaceMesh",
    "SurfacePatch",
    "SwitchPoint",
    "System",
    "SystemNorm",
    "TaskPath",
    "Tether",
    "Thruster",
    "TorqueLimits",
    "TrackingReport",
    "Trajectory",
    "Transition",
    "TreeCorrection",
    "UniformGravity",
    "Uniqueness",
    "Universal",
    "Velocity",
    "VibrationLaw",
    "WeakMode",
    "absolute_state",
    "add_dead_zone",
    "add_delay",
    "add_low_pass",
    "add_noise",
    "add_notch",
    "assemble_shell",
    "campbell",
    "check_adequacy",
    "check_controllability",
    "check_observability",
    "check_path",
    "check_spillover",
    "choose_path",
    "classical_margins",
    "close_loops",
    "close_positions",
    "combine_shapers",
    "combine_stages",
    "compare_maneuvers",
    "compare_near_minimum_time",
    "constraint_force_terms",
    "correct_tree",
    "correction_terms",
    "design_attitude_filter",
    "design_kalman",
    "design_lqg",
    "design_lqr",
    "design_lqr_along",
    "design_pd",
    "design_shaper",
    "diagnose_constraints",
    "disk_margins",
    "displace_state",
    "draw_phase_plane",
    "draw_sensitivity",
    "effective_masses",
    "factor_mass",
    "find_base_wrench",
    "find_compliances",
    "find_constraint_wrenches",
    "find_impulse",
    "find_locked_frequencies",
    "find_operating_point",
    "find_tension",
    "find_uniqueness",
    "floquet",
    "fly_plan",
    "form_equations",
    "h2_norm",
    "h_infinity_norm",
    "keep_out_box",
    "keep_out_sphere",
    "library",
    "limit_rate",
    "linearize",
    "linearize_along",
    "load_batch",
    "load_fem",
    "load_simulation",
    "load_system",
    "make_consistent",
    "make_law",
    "measure_flight",
    "modes",
    "parse_requirement",
    "perturbed_poles",
    "plan_bang_bang",
    "plan_collocation",
    "plan_near_minimum_time",
    "plan_phase_plane",
    "plan_reachability",
    "prevent_windup",
    "quantize",
    "read_matrix_market",
    "read_nastran",
    "reduce_balanced",
    "reduce_modal",
    "refly",
    "replay",
    "require_detectable",
    "require_stabilizable",
    "reseed",
    "rigid_counterpart",
    "rotation_about",
    "saturate",
    "save_fem",
    "save_system",
    "shape_command",
    "shape_modes",
    "shape_motion",
    "shape_plan",
    "shape_trajectory",
    "simulate",
    "simulate_many",
    "simulate_stages",
    "smoothed_bang_bang",
    "solve_path",
    "subtract_states",
    "suppress_vibration",
    "to_nonlinear_control",
    "watch_stretch",
    "write_report",
]

suggest_keywords(__name__, __all__)
