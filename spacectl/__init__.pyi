# Written by `make stub` from the table in __init__.py; a test compares the two.

from spacectl.model import library as library
from spacectl.controllers.analysis.spillover import (
    Spillover as Spillover,
    SpilloverMode as SpilloverMode,
    check_spillover as check_spillover,
)
from spacectl.controllers.model_based.artificial_constraint import (
    ArtificialConstraintTracking as ArtificialConstraintTracking,
)
from spacectl.controllers.model_based.feedback_linearization import (
    FeedbackLinearization as FeedbackLinearization,
    ModifiedFeedbackLinearization as ModifiedFeedbackLinearization,
)
from spacectl.controllers.model_based.linearization_report import LinearizationReport as LinearizationReport
from spacectl.controllers.model_based.tracking_report import TrackingReport as TrackingReport
from spacectl.controllers.regulators.attitude_filter import design_attitude_filter as design_attitude_filter
from spacectl.controllers.regulators.estimators import KalmanFilter as KalmanFilter, design_kalman as design_kalman
from spacectl.controllers.regulators.lqg import LqgLaw as LqgLaw, design_lqg as design_lqg
from spacectl.controllers.regulators.lqr import LqrLaw as LqrLaw, design_lqr as design_lqr
from spacectl.controllers.regulators.lqr_along import (
    LqrTrajectoryLaw as LqrTrajectoryLaw,
    design_lqr_along as design_lqr_along,
)
from spacectl.controllers.regulators.pd import design_pd as design_pd
from spacectl.controllers.shaping.commands import shape_command as shape_command, shape_trajectory as shape_trajectory
from spacectl.controllers.shaping.figures import draw_sensitivity as draw_sensitivity
from spacectl.controllers.shaping.profiles import RestToRest as RestToRest, smoothed_bang_bang as smoothed_bang_bang
from spacectl.controllers.shaping.shaper import (
    Shaper as Shaper,
    combine_shapers as combine_shapers,
    design_shaper as design_shaper,
    shape_modes as shape_modes,
)
from spacectl.controllers.shaping.vibration import (
    VibrationLaw as VibrationLaw,
    suppress_vibration as suppress_vibration,
)
from spacectl.controllers.wrappers.delay import add_delay as add_delay
from spacectl.controllers.wrappers.filters import add_low_pass as add_low_pass, add_notch as add_notch
from spacectl.controllers.wrappers.limits import (
    add_dead_zone as add_dead_zone,
    limit_rate as limit_rate,
    quantize as quantize,
    saturate as saturate,
)
from spacectl.controllers.wrappers.noise import add_noise as add_noise, reseed as reseed
from spacectl.controllers.wrappers.windup import prevent_windup as prevent_windup
from spacectl.core.accessor import Accessor as Accessor
from spacectl.core.array import Array as Array
from spacectl.core.control_law import CallableLaw as CallableLaw, ControlLaw as ControlLaw, make_law as make_law
from spacectl.core.errors import (
    ModelError as ModelError,
    ShapeError as ShapeError,
    SolverError as SolverError,
    SpacectlError as SpacectlError,
)
from spacectl.core.figure import Band as Band, Figure as Figure, Line as Line, Panel as Panel, Region as Region
from spacectl.core.labels import Labels as Labels
from spacectl.core.outcome import Outcome as Outcome, Status as Status
from spacectl.core.shape import Shape as Shape
from spacectl.core.studies.published import Printed as Printed, PublishedResult as PublishedResult
from spacectl.core.studies.report_panel import ReportPanel as ReportPanel, Section as Section
from spacectl.core.studies.requirement import Requirement as Requirement, parse_requirement as parse_requirement
from spacectl.core.studies.study import Study as Study, StudyResult as StudyResult
from spacectl.core.trajectory import Trajectory as Trajectory
from spacectl.dynamics.absolute_state import absolute_state as absolute_state
from spacectl.dynamics.adequacy import (
    AdequacyReport as AdequacyReport,
    ConstraintForceTerms as ConstraintForceTerms,
    check_adequacy as check_adequacy,
    constraint_force_terms as constraint_force_terms,
)
from spacectl.dynamics.closing.close_loops import (
    ClosedLoop as ClosedLoop,
    ClosedState as ClosedState,
    close_loops as close_loops,
)
from spacectl.dynamics.closing.close_positions import close_positions as close_positions
from spacectl.dynamics.consistent import ConsistentState as ConsistentState, make_consistent as make_consistent
from spacectl.dynamics.constraints.diagnosis import (
    ConstraintReport as ConstraintReport,
    diagnose_constraints as diagnose_constraints,
)
from spacectl.dynamics.embedded_mass import EmbeddedMass as EmbeddedMass, factor_mass as factor_mass
from spacectl.dynamics.form import form_equations as form_equations
from spacectl.dynamics.reactions.tension import find_tension as find_tension, watch_stretch as watch_stretch
from spacectl.dynamics.reactions.uniqueness import Uniqueness as Uniqueness, find_uniqueness as find_uniqueness
from spacectl.dynamics.reactions.wrenches import (
    find_base_wrench as find_base_wrench,
    find_constraint_wrenches as find_constraint_wrenches,
)
from spacectl.dynamics.tree_correction import TreeCorrection as TreeCorrection, correct_tree as correct_tree
from spacectl.dynamics.truncation.correction import Correction as Correction, correction_terms as correction_terms
from spacectl.dynamics.waist.equations import EquationsOfMotion as EquationsOfMotion
from spacectl.dynamics.waist.handover import Baumgarte as Baumgarte
from spacectl.interop.control import to_nonlinear_control as to_nonlinear_control
from spacectl.linear.along import linearize_along as linearize_along
from spacectl.linear.analysis.controllability import (
    Controllability as Controllability,
    Observability as Observability,
    check_controllability as check_controllability,
    check_observability as check_observability,
    require_detectable as require_detectable,
    require_stabilizable as require_stabilizable,
)
from spacectl.linear.analysis.mode_margins import WeakMode as WeakMode
from spacectl.linear.analysis.modes import (
    Modes as Modes,
    find_locked_frequencies as find_locked_frequencies,
    modes as modes,
)
from spacectl.linear.linearize import linearize as linearize
from spacectl.linear.margins.classical import (
    ClassicalMargins as ClassicalMargins,
    classical_margins as classical_margins,
)
from spacectl.linear.margins.disk import (
    DiskMargin as DiskMargin,
    DiskMargins as DiskMargins,
    disk_margins as disk_margins,
    perturbed_poles as perturbed_poles,
)
from spacectl.linear.margins.norms import (
    SystemNorm as SystemNorm,
    h2_norm as h2_norm,
    h_infinity_norm as h_infinity_norm,
)
from spacectl.linear.models.linear_model import LinearModel as LinearModel
from spacectl.linear.models.linear_trajectory import LinearTrajectory as LinearTrajectory
from spacectl.linear.models.tangent import displace_state as displace_state, subtract_states as subtract_states
from spacectl.linear.operating_point import (
    OperatingPoint as OperatingPoint,
    find_operating_point as find_operating_point,
)
from spacectl.linear.reduction.reduce import (
    Reduction as Reduction,
    reduce_balanced as reduce_balanced,
    reduce_modal as reduce_modal,
)
from spacectl.linear.sweeps.campbell import campbell as campbell
from spacectl.linear.sweeps.campbell_result import (
    Campbell as Campbell,
    Crossing as Crossing,
    Instability as Instability,
)
from spacectl.linear.sweeps.floquet import Floquet as Floquet, floquet as floquet
from spacectl.maneuvers.compare import (
    ManeuverComparison as ManeuverComparison,
    ManeuverRow as ManeuverRow,
    compare_maneuvers as compare_maneuvers,
    compare_near_minimum_time as compare_near_minimum_time,
)
from spacectl.maneuvers.measure import Flight as Flight, measure_flight as measure_flight
from spacectl.maneuvers.near_minimum_time import (
    Maneuver as Maneuver,
    fly_plan as fly_plan,
    plan_near_minimum_time as plan_near_minimum_time,
)
from spacectl.maneuvers.shaped import shape_motion as shape_motion, shape_plan as shape_plan
from spacectl.model.actuators import (
    BodyForce as BodyForce,
    BodyTorque as BodyTorque,
    ControlMomentGyro as ControlMomentGyro,
    DistributedForce as DistributedForce,
    DistributedTorque as DistributedTorque,
    JointForce as JointForce,
    JointTorque as JointTorque,
    ReactionWheel as ReactionWheel,
    Thruster as Thruster,
)
from spacectl.model.attachments import find_compliances as find_compliances
from spacectl.model.bodies.base.effective_masses import (
    EffectiveMasses as EffectiveMasses,
    effective_masses as effective_masses,
)
from spacectl.model.bodies.base.flexible import Proportional as Proportional
from spacectl.model.bodies.base.interfaces import Compliance as Compliance
from spacectl.model.bodies.base.profile import Profile as Profile, SurfaceMesh as SurfaceMesh
from spacectl.model.bodies.beam.beam import Beam as Beam
from spacectl.model.bodies.fem.files import (
    load_fem as load_fem,
    read_matrix_market as read_matrix_market,
    save_fem as save_fem,
)
from spacectl.model.bodies.fem.model import FemModel as FemModel
from spacectl.model.bodies.fem.nastran import read_nastran as read_nastran
from spacectl.model.bodies.modal.modal import ModalBody as ModalBody
from spacectl.model.bodies.plate.plate import Plate as Plate
from spacectl.model.bodies.rigid import Frame as Frame, RigidBody as RigidBody
from spacectl.model.bodies.surface.patch import SurfacePatch as SurfacePatch
from spacectl.model.bodies.surface.shell_elements import assemble_shell as assemble_shell
from spacectl.model.constraints import (
    Artificial as Artificial,
    Constraint as Constraint,
    Loop as Loop,
    Natural as Natural,
    NoRelativeRotation as NoRelativeRotation,
    PointOnPlane as PointOnPlane,
)
from spacectl.model.elements import JointSpring as JointSpring, SpringDamper as SpringDamper
from spacectl.model.elements.drive import Drive as Drive
from spacectl.model.elements.drive_laws import (
    Friction as Friction,
    HardeningSpring as HardeningSpring,
    Stiction as Stiction,
)
from spacectl.model.environment import (
    CentralGravity as CentralGravity,
    CircularOrbit as CircularOrbit,
    EllipticOrbit as EllipticOrbit,
    FreeSpace as FreeSpace,
    UniformGravity as UniformGravity,
)
from spacectl.model.files import load_system as load_system, register as register, save_system as save_system
from spacectl.model.joints import (
    Cartesian as Cartesian,
    Cylindrical as Cylindrical,
    Fixed as Fixed,
    Free as Free,
    Helical as Helical,
    Planar as Planar,
    Prismatic as Prismatic,
    Revolute as Revolute,
    Spherical as Spherical,
    Universal as Universal,
)
from spacectl.model.joints.redundant import QuaternionFree as QuaternionFree
from spacectl.model.sensors import (
    Acceleration as Acceleration,
    AngularVelocity as AngularVelocity,
    Attitude as Attitude,
    Position as Position,
    Velocity as Velocity,
)
from spacectl.model.system import Part as Part, System as System
from spacectl.model.tethers import Tether as Tether
from spacectl.model.tethers.elastic_tether import ElasticTether as ElasticTether
from spacectl.model.transforms.counterpart import rigid_counterpart as rigid_counterpart
from spacectl.planners.collocation.mesh import Refinement as Refinement
from spacectl.planners.collocation.transcription.schemes import HermiteSimpson as HermiteSimpson, Radau as Radau
from spacectl.planners.keep_out import keep_out_box as keep_out_box, keep_out_sphere as keep_out_sphere
from spacectl.planners.paths.check import PathReport as PathReport, check_path as check_path
from spacectl.planners.paths.curves import (
    ArcCurve as ArcCurve,
    BlendCurve as BlendCurve,
    LineCurve as LineCurve,
    SplineCurve as SplineCurve,
)
from spacectl.planners.paths.limits import (
    AccelerationLimits as AccelerationLimits,
    FlexibleJointLimit as FlexibleJointLimit,
    GraspLimit as GraspLimit,
    SpeedLimits as SpeedLimits,
    TorqueLimits as TorqueLimits,
)
from spacectl.planners.paths.path import (
    ImplicitPath as ImplicitPath,
    JointPath as JointPath,
    SlewPath as SlewPath,
    TaskPath as TaskPath,
)
from spacectl.planners.paths.solve import SolvedPath as SolvedPath, solve_path as solve_path
from spacectl.planners.phase_plane.choice import PathChoice as PathChoice, choose_path as choose_path
from spacectl.planners.phase_plane.figure import draw_phase_plane as draw_phase_plane
from spacectl.planners.phase_plane.plan_phase_plane import (
    PhasePlane as PhasePlane,
    plan_phase_plane as plan_phase_plane,
)
from spacectl.planners.phase_plane.points import SwitchPoint as SwitchPoint
from spacectl.planners.phase_plane.reachability import plan_reachability as plan_reachability
from spacectl.planners.plan import Arc as Arc, Plan as Plan
from spacectl.planners.plan_bang_bang import plan_bang_bang as plan_bang_bang
from spacectl.planners.plan_collocation import plan_collocation as plan_collocation
from spacectl.planners.problem import Condition as Condition, Phases as Phases, Problem as Problem
from spacectl.planners.replay import refly as refly, replay as replay
from spacectl.reports.page.figures import draw_figure as draw_figure, save_figure as save_figure
from spacectl.reports.page.page import write_report as write_report
from spacectl.simulation.batches.result import SimulationBatch as SimulationBatch, load_batch as load_batch
from spacectl.simulation.batches.simulate_many import simulate_many as simulate_many
from spacectl.simulation.events import Guard as Guard
from spacectl.simulation.load import load_simulation as load_simulation
from spacectl.simulation.results.simulation import Simulation as Simulation
from spacectl.simulation.run.simulate import simulate as simulate
from spacectl.simulation.stages.impulses import Impulse as Impulse, find_impulse as find_impulse
from spacectl.simulation.stages.result import StagedSimulation as StagedSimulation, Transition as Transition
from spacectl.simulation.stages.simulate_stages import simulate_stages as simulate_stages
from spacectl.simulation.stages.stages import (
    Exit as Exit,
    Impact as Impact,
    Stage as Stage,
    StageProduct as StageProduct,
    combine_stages as combine_stages,
)
from spacectl.spatial.rotation import rotation_about as rotation_about

__version__: str
__all__: list[str]
