# Written by `make stub` from the table in __init__.py; a test compares the two.

from spacectl.controllers.analysis.spillover import (
    Spillover as Spillover,
)
from spacectl.controllers.analysis.spillover import (
    SpilloverMode as SpilloverMode,
)
from spacectl.controllers.analysis.spillover import (
    check_spillover as check_spillover,
)
from spacectl.controllers.model_based.artificial_constraint import (
    ArtificialConstraintTracking as ArtificialConstraintTracking,
)
from spacectl.controllers.model_based.feedback_linearization import (
    FeedbackLinearization as FeedbackLinearization,
)
from spacectl.controllers.model_based.feedback_linearization import (
    ModifiedFeedbackLinearization as ModifiedFeedbackLinearization,
)
from spacectl.controllers.model_based.linearization_report import LinearizationReport as LinearizationReport
from spacectl.controllers.model_based.tracking_report import TrackingReport as TrackingReport
from spacectl.controllers.regulators.attitude_filter import design_attitude_filter as design_attitude_filter
from spacectl.controllers.regulators.estimators import KalmanFilter as KalmanFilter
from spacectl.controllers.regulators.estimators import design_kalman as design_kalman
from spacectl.controllers.regulators.lqg import LqgLaw as LqgLaw
from spacectl.controllers.regulators.lqg import design_lqg as design_lqg
from spacectl.controllers.regulators.lqr import LqrLaw as LqrLaw
from spacectl.controllers.regulators.lqr import design_lqr as design_lqr
from spacectl.controllers.regulators.lqr_along import (
    LqrTrajectoryLaw as LqrTrajectoryLaw,
)
from spacectl.controllers.regulators.lqr_along import (
    design_lqr_along as design_lqr_along,
)
from spacectl.controllers.regulators.pd import design_pd as design_pd
from spacectl.controllers.shaping.commands import shape_command as shape_command
from spacectl.controllers.shaping.commands import shape_trajectory as shape_trajectory
from spacectl.controllers.shaping.figures import draw_sensitivity as draw_sensitivity
from spacectl.controllers.shaping.profiles import RestToRest as RestToRest
from spacectl.controllers.shaping.profiles import smoothed_bang_bang as smoothed_bang_bang
from spacectl.controllers.shaping.shaper import (
    Shaper as Shaper,
)
from spacectl.controllers.shaping.shaper import (
    combine_shapers as combine_shapers,
)
from spacectl.controllers.shaping.shaper import (
    design_shaper as design_shaper,
)
from spacectl.controllers.shaping.shaper import (
    shape_modes as shape_modes,
)
from spacectl.controllers.shaping.vibration import (
    VibrationLaw as VibrationLaw,
)
from spacectl.controllers.shaping.vibration import (
    suppress_vibration as suppress_vibration,
)
from spacectl.controllers.wrappers.delay import add_delay as add_delay
from spacectl.controllers.wrappers.filters import add_low_pass as add_low_pass
from spacectl.controllers.wrappers.filters import add_notch as add_notch
from spacectl.controllers.wrappers.limits import (
    add_dead_zone as add_dead_zone,
)
from spacectl.controllers.wrappers.limits import (
    limit_rate as limit_rate,
)
from spacectl.controllers.wrappers.limits import (
    quantize as quantize,
)
from spacectl.controllers.wrappers.limits import (
    saturate as saturate,
)
from spacectl.controllers.wrappers.noise import add_noise as add_noise
from spacectl.controllers.wrappers.noise import reseed as reseed
from spacectl.controllers.wrappers.windup import prevent_windup as prevent_windup
from spacectl.core.accessor import Accessor as Accessor
from spacectl.core.array import Array as Array
from spacectl.core.control_law import CallableLaw as CallableLaw
from spacectl.core.control_law import ControlLaw as ControlLaw
from spacectl.core.control_law import make_law as make_law
from spacectl.core.errors import (
    ModelError as ModelError,
)
from spacectl.core.errors import (
    ShapeError as ShapeError,
)
from spacectl.core.errors import (
    SolverError as SolverError,
)
from spacectl.core.errors import (
    SpacectlError as SpacectlError,
)
from spacectl.core.figure import Band as Band
from spacectl.core.figure import Figure as Figure
from spacectl.core.figure import Line as Line
from spacectl.core.figure import Panel as Panel
from spacectl.core.figure import Region as Region
from spacectl.core.labels import Labels as Labels
from spacectl.core.outcome import Outcome as Outcome
from spacectl.core.outcome import Status as Status
from spacectl.core.printed import Printed as Printed
from spacectl.core.requirement import Requirement as Requirement
from spacectl.core.requirement import parse_requirement as parse_requirement
from spacectl.core.shape import Shape as Shape
from spacectl.core.study import Study as Study
from spacectl.core.study import StudyResult as StudyResult
from spacectl.core.trajectory import Trajectory as Trajectory
from spacectl.dynamics.absolute_state import absolute_state as absolute_state
from spacectl.dynamics.adequacy import (
    AdequacyReport as AdequacyReport,
)
from spacectl.dynamics.adequacy import (
    ConstraintForceTerms as ConstraintForceTerms,
)
from spacectl.dynamics.adequacy import (
    check_adequacy as check_adequacy,
)
from spacectl.dynamics.adequacy import (
    constraint_force_terms as constraint_force_terms,
)
from spacectl.dynamics.base_wrench import find_base_wrench as find_base_wrench
from spacectl.dynamics.closure import ClosedLoop as ClosedLoop
from spacectl.dynamics.closure import ClosedState as ClosedState
from spacectl.dynamics.closure import close_loops as close_loops
from spacectl.dynamics.consistent import ConsistentState as ConsistentState
from spacectl.dynamics.consistent import make_consistent as make_consistent
from spacectl.dynamics.constraints.diagnosis import (
    ConstraintReport as ConstraintReport,
)
from spacectl.dynamics.constraints.diagnosis import (
    diagnose_constraints as diagnose_constraints,
)
from spacectl.dynamics.embedded_mass import EmbeddedMass as EmbeddedMass
from spacectl.dynamics.embedded_mass import factor_mass as factor_mass
from spacectl.dynamics.form import form_equations as form_equations
from spacectl.dynamics.tension import find_tension as find_tension
from spacectl.dynamics.tension import watch_stretch as watch_stretch
from spacectl.dynamics.tree_correction import TreeCorrection as TreeCorrection
from spacectl.dynamics.tree_correction import correct_tree as correct_tree
from spacectl.dynamics.truncation.correction import Correction as Correction
from spacectl.dynamics.truncation.correction import correction_terms as correction_terms
from spacectl.dynamics.uniqueness import Uniqueness as Uniqueness
from spacectl.dynamics.uniqueness import find_uniqueness as find_uniqueness
from spacectl.dynamics.waist.equations import EquationsOfMotion as EquationsOfMotion
from spacectl.dynamics.waist.options import Baumgarte as Baumgarte
from spacectl.dynamics.workspace import close_positions as close_positions
from spacectl.dynamics.wrenches import find_constraint_wrenches as find_constraint_wrenches
from spacectl.interop.control import to_nonlinear_control as to_nonlinear_control
from spacectl.linear.along import linearize_along as linearize_along
from spacectl.linear.analysis.campbell import campbell as campbell
from spacectl.linear.analysis.campbell_result import (
    Campbell as Campbell,
)
from spacectl.linear.analysis.campbell_result import (
    Crossing as Crossing,
)
from spacectl.linear.analysis.campbell_result import (
    Instability as Instability,
)
from spacectl.linear.analysis.controllability import (
    Controllability as Controllability,
)
from spacectl.linear.analysis.controllability import (
    Observability as Observability,
)
from spacectl.linear.analysis.controllability import (
    check_controllability as check_controllability,
)
from spacectl.linear.analysis.controllability import (
    check_observability as check_observability,
)
from spacectl.linear.analysis.controllability import (
    require_detectable as require_detectable,
)
from spacectl.linear.analysis.controllability import (
    require_stabilizable as require_stabilizable,
)
from spacectl.linear.analysis.floquet import Floquet as Floquet
from spacectl.linear.analysis.floquet import floquet as floquet
from spacectl.linear.analysis.locked import find_locked_frequencies as find_locked_frequencies
from spacectl.linear.analysis.mode_margins import WeakMode as WeakMode
from spacectl.linear.analysis.modes import Modes as Modes
from spacectl.linear.analysis.modes import modes as modes
from spacectl.linear.linearize import linearize as linearize
from spacectl.linear.margins.classical import (
    ClassicalMargins as ClassicalMargins,
)
from spacectl.linear.margins.classical import (
    classical_margins as classical_margins,
)
from spacectl.linear.margins.disk import (
    DiskMargin as DiskMargin,
)
from spacectl.linear.margins.disk import (
    DiskMargins as DiskMargins,
)
from spacectl.linear.margins.disk import (
    disk_margins as disk_margins,
)
from spacectl.linear.margins.disk import (
    perturbed_poles as perturbed_poles,
)
from spacectl.linear.margins.norms import (
    SystemNorm as SystemNorm,
)
from spacectl.linear.margins.norms import (
    h2_norm as h2_norm,
)
from spacectl.linear.margins.norms import (
    h_infinity_norm as h_infinity_norm,
)
from spacectl.linear.models.linear_model import LinearModel as LinearModel
from spacectl.linear.models.linear_trajectory import LinearTrajectory as LinearTrajectory
from spacectl.linear.models.tangent import displace_state as displace_state
from spacectl.linear.models.tangent import subtract_states as subtract_states
from spacectl.linear.operating_point import (
    OperatingPoint as OperatingPoint,
)
from spacectl.linear.operating_point import (
    find_operating_point as find_operating_point,
)
from spacectl.linear.reduction.reduce import (
    Reduction as Reduction,
)
from spacectl.linear.reduction.reduce import (
    reduce_balanced as reduce_balanced,
)
from spacectl.linear.reduction.reduce import (
    reduce_modal as reduce_modal,
)
from spacectl.maneuvers.compare import (
    ManeuverComparison as ManeuverComparison,
)
from spacectl.maneuvers.compare import (
    ManeuverRow as ManeuverRow,
)
from spacectl.maneuvers.compare import (
    compare_maneuvers as compare_maneuvers,
)
from spacectl.maneuvers.compare import (
    compare_near_minimum_time as compare_near_minimum_time,
)
from spacectl.maneuvers.measure import Flight as Flight
from spacectl.maneuvers.measure import measure_flight as measure_flight
from spacectl.maneuvers.near_minimum_time import (
    Maneuver as Maneuver,
)
from spacectl.maneuvers.near_minimum_time import (
    fly_plan as fly_plan,
)
from spacectl.maneuvers.near_minimum_time import (
    plan_near_minimum_time as plan_near_minimum_time,
)
from spacectl.maneuvers.shaped import shape_motion as shape_motion
from spacectl.maneuvers.shaped import shape_plan as shape_plan
from spacectl.model import library as library
from spacectl.model.actuators import (
    BodyForce as BodyForce,
)
from spacectl.model.actuators import (
    BodyTorque as BodyTorque,
)
from spacectl.model.actuators import (
    JointForce as JointForce,
)
from spacectl.model.actuators import (
    JointTorque as JointTorque,
)
from spacectl.model.actuators import (
    ReactionWheel as ReactionWheel,
)
from spacectl.model.actuators import (
    Thruster as Thruster,
)
from spacectl.model.actuators.distributed_force import (
    DistributedForce as DistributedForce,
)
from spacectl.model.actuators.distributed_force import (
    DistributedTorque as DistributedTorque,
)
from spacectl.model.attachments import find_compliances as find_compliances
from spacectl.model.bodies.base.effective_masses import (
    EffectiveMasses as EffectiveMasses,
)
from spacectl.model.bodies.base.effective_masses import (
    effective_masses as effective_masses,
)
from spacectl.model.bodies.base.flexible import Proportional as Proportional
from spacectl.model.bodies.base.interfaces import Compliance as Compliance
from spacectl.model.bodies.base.profile import Profile as Profile
from spacectl.model.bodies.base.surface_mesh import SurfaceMesh as SurfaceMesh
from spacectl.model.bodies.beam.beam import Beam as Beam
from spacectl.model.bodies.fem.files import (
    load_fem as load_fem,
)
from spacectl.model.bodies.fem.files import (
    read_matrix_market as read_matrix_market,
)
from spacectl.model.bodies.fem.files import (
    save_fem as save_fem,
)
from spacectl.model.bodies.fem.model import FemModel as FemModel
from spacectl.model.bodies.fem.nastran import read_nastran as read_nastran
from spacectl.model.bodies.modal.modal import ModalBody as ModalBody
from spacectl.model.bodies.plate.plate import Plate as Plate
from spacectl.model.bodies.rigid import Frame as Frame
from spacectl.model.bodies.rigid import RigidBody as RigidBody
from spacectl.model.bodies.surface.patch import SurfacePatch as SurfacePatch
from spacectl.model.bodies.surface.shell_elements import assemble_shell as assemble_shell
from spacectl.model.constraints import (
    Artificial as Artificial,
)
from spacectl.model.constraints import (
    Constraint as Constraint,
)
from spacectl.model.constraints import (
    Loop as Loop,
)
from spacectl.model.constraints import (
    Natural as Natural,
)
from spacectl.model.constraints import (
    NoRelativeRotation as NoRelativeRotation,
)
from spacectl.model.constraints import (
    PointOnPlane as PointOnPlane,
)
from spacectl.model.counterpart import rigid_counterpart as rigid_counterpart
from spacectl.model.elements import JointSpring as JointSpring
from spacectl.model.elements import SpringDamper as SpringDamper
from spacectl.model.elements.drive import Drive as Drive
from spacectl.model.elements.drive_laws import (
    Friction as Friction,
)
from spacectl.model.elements.drive_laws import (
    HardeningSpring as HardeningSpring,
)
from spacectl.model.elements.drive_laws import (
    Stiction as Stiction,
)
from spacectl.model.environment import (
    CentralGravity as CentralGravity,
)
from spacectl.model.environment import (
    CircularOrbit as CircularOrbit,
)
from spacectl.model.environment import (
    FreeSpace as FreeSpace,
)
from spacectl.model.environment import (
    UniformGravity as UniformGravity,
)
from spacectl.model.files import load_system as load_system
from spacectl.model.files import save_system as save_system
from spacectl.model.joints import (
    Cartesian as Cartesian,
)
from spacectl.model.joints import (
    Cylindrical as Cylindrical,
)
from spacectl.model.joints import (
    Fixed as Fixed,
)
from spacectl.model.joints import (
    Free as Free,
)
from spacectl.model.joints import (
    Planar as Planar,
)
from spacectl.model.joints import (
    Prismatic as Prismatic,
)
from spacectl.model.joints import (
    Revolute as Revolute,
)
from spacectl.model.joints import (
    Spherical as Spherical,
)
from spacectl.model.joints import (
    Universal as Universal,
)
from spacectl.model.redundant import QuaternionFree as QuaternionFree
from spacectl.model.sensors import (
    Acceleration as Acceleration,
)
from spacectl.model.sensors import (
    AngularVelocity as AngularVelocity,
)
from spacectl.model.sensors import (
    Attitude as Attitude,
)
from spacectl.model.sensors import (
    Position as Position,
)
from spacectl.model.sensors import (
    Velocity as Velocity,
)
from spacectl.model.system import Part as Part
from spacectl.model.system import System as System
from spacectl.model.tethers import Tether as Tether
from spacectl.model.tethers.elastic_tether import ElasticTether as ElasticTether
from spacectl.planners.bang_bang.plan_bang_bang import plan_bang_bang as plan_bang_bang
from spacectl.planners.collocation.mesh import Refinement as Refinement
from spacectl.planners.collocation.plan_collocation import plan_collocation as plan_collocation
from spacectl.planners.collocation.transcription.schemes import HermiteSimpson as HermiteSimpson
from spacectl.planners.collocation.transcription.schemes import Radau as Radau
from spacectl.planners.keep_out import keep_out_box as keep_out_box
from spacectl.planners.keep_out import keep_out_sphere as keep_out_sphere
from spacectl.planners.paths.check import PathReport as PathReport
from spacectl.planners.paths.check import check_path as check_path
from spacectl.planners.paths.curves import (
    ArcCurve as ArcCurve,
)
from spacectl.planners.paths.curves import (
    BlendCurve as BlendCurve,
)
from spacectl.planners.paths.curves import (
    LineCurve as LineCurve,
)
from spacectl.planners.paths.curves import (
    SplineCurve as SplineCurve,
)
from spacectl.planners.paths.limits import (
    AccelerationLimits as AccelerationLimits,
)
from spacectl.planners.paths.limits import (
    FlexibleJointLimit as FlexibleJointLimit,
)
from spacectl.planners.paths.limits import (
    GraspLimit as GraspLimit,
)
from spacectl.planners.paths.limits import (
    SpeedLimits as SpeedLimits,
)
from spacectl.planners.paths.limits import (
    TorqueLimits as TorqueLimits,
)
from spacectl.planners.paths.path import (
    ImplicitPath as ImplicitPath,
)
from spacectl.planners.paths.path import (
    JointPath as JointPath,
)
from spacectl.planners.paths.path import (
    SlewPath as SlewPath,
)
from spacectl.planners.paths.path import (
    TaskPath as TaskPath,
)
from spacectl.planners.paths.solve import SolvedPath as SolvedPath
from spacectl.planners.paths.solve import solve_path as solve_path
from spacectl.planners.phase_plane.choice import PathChoice as PathChoice
from spacectl.planners.phase_plane.choice import choose_path as choose_path
from spacectl.planners.phase_plane.figure import draw_phase_plane as draw_phase_plane
from spacectl.planners.phase_plane.plan_phase_plane import (
    PhasePlane as PhasePlane,
)
from spacectl.planners.phase_plane.plan_phase_plane import (
    plan_phase_plane as plan_phase_plane,
)
from spacectl.planners.phase_plane.points import SwitchPoint as SwitchPoint
from spacectl.planners.phase_plane.reachability import plan_reachability as plan_reachability
from spacectl.planners.plan import Arc as Arc
from spacectl.planners.plan import Plan as Plan
from spacectl.planners.problem import Condition as Condition
from spacectl.planners.problem import Phases as Phases
from spacectl.planners.problem import Problem as Problem
from spacectl.planners.replay import refly as refly
from spacectl.planners.replay import replay as replay
from spacectl.reports.page.page import write_report as write_report
from spacectl.simulation.batches.result import SimulationBatch as SimulationBatch
from spacectl.simulation.batches.result import load_batch as load_batch
from spacectl.simulation.batches.simulate_many import simulate_many as simulate_many
from spacectl.simulation.results.load import load_simulation as load_simulation
from spacectl.simulation.results.simulation import Simulation as Simulation
from spacectl.simulation.run.events import Guard as Guard
from spacectl.simulation.run.simulate import simulate as simulate
from spacectl.simulation.stages.impulses import Impulse as Impulse
from spacectl.simulation.stages.impulses import find_impulse as find_impulse
from spacectl.simulation.stages.result import StagedSimulation as StagedSimulation
from spacectl.simulation.stages.result import Transition as Transition
from spacectl.simulation.stages.simulate_stages import simulate_stages as simulate_stages
from spacectl.simulation.stages.stages import (
    Exit as Exit,
)
from spacectl.simulation.stages.stages import (
    Impact as Impact,
)
from spacectl.simulation.stages.stages import (
    Stage as Stage,
)
from spacectl.simulation.stages.stages import (
    StageProduct as StageProduct,
)
from spacectl.simulation.stages.stages import (
    combine_stages as combine_stages,
)
from spacectl.spatial.rotation import rotation_about as rotation_about

__version__: str
__all__: list[str]
