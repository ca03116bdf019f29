"""spacectl: control design for space manipulators, flexible spacecraft and tethers.

Describe a system once as data, form its equations, design a law, simulate the closed loop, write a report:

    eom = form_equations(system)
    law = design_pd(eom, kp=..., kd=...)
    sim = simulate(eom, law, x0=..., t_span=(0.0, 60.0))
    write_report(sim, "report.html")
"""

from importlib import import_module
from typing import Any

from spacectl.core.errors import suggest_keywords, unknown_name

__version__ = "0.2.0"

#: Public names by the module below spacectl that defines them. They are imported when they are first used, so that
#: ``import spacectl`` costs next to nothing; `__init__.pyi` shows the same names to type checkers (`make stub`).
_PUBLIC = {
    "controllers.analysis.spillover": "Spillover SpilloverMode check_spillover",
    "controllers.model_based.artificial_constraint": "ArtificialConstraintTracking",
    "controllers.model_based.feedback_linearization": "FeedbackLinearization ModifiedFeedbackLinearization",
    "controllers.model_based.linearization_report": "LinearizationReport",
    "controllers.model_based.tracking_report": "TrackingReport",
    "controllers.regulators.attitude_filter": "design_attitude_filter",
    "controllers.regulators.estimators": "KalmanFilter design_kalman",
    "controllers.regulators.lqg": "LqgLaw design_lqg",
    "controllers.regulators.lqr": "LqrLaw design_lqr",
    "controllers.regulators.lqr_along": "LqrTrajectoryLaw design_lqr_along",
    "controllers.regulators.pd": "design_pd",
    "controllers.shaping.commands": "shape_command shape_trajectory",
    "controllers.shaping.figures": "draw_sensitivity",
    "controllers.shaping.profiles": "RestToRest smoothed_bang_bang",
    "controllers.shaping.shaper": "Shaper combine_shapers design_shaper shape_modes",
    "controllers.shaping.vibration": "VibrationLaw suppress_vibration",
    "controllers.wrappers.delay": "add_delay",
    "controllers.wrappers.filters": "add_low_pass add_notch",
    "controllers.wrappers.limits": "add_dead_zone limit_rate quantize saturate",
    "controllers.wrappers.noise": "add_noise reseed",
    "controllers.wrappers.windup": "prevent_windup",
    "core.accessor": "Accessor",
    "core.array": "Array",
    "core.control_law": "CallableLaw ControlLaw make_law",
    "core.errors": "ModelError ShapeError SolverError SpacectlError",
    "core.figure": "Band Figure Line Panel Region",
    "core.labels": "Labels",
    "core.outcome": "Outcome Status",
    "core.studies.published": "Printed PublishedResult",
    "core.studies.report_panel": "ReportPanel Section",
    "core.studies.requirement": "Requirement parse_requirement",
    "core.shape": "Shape",
    "core.studies.study": "Study StudyResult",
    "core.trajectory": "Trajectory",
    "dynamics.absolute_state": "absolute_state",
    "dynamics.adequacy": "AdequacyReport ConstraintForceTerms check_adequacy constraint_force_terms",
    "dynamics.closing.close_loops": "ClosedLoop ClosedState close_loops",
    "dynamics.consistent": "ConsistentState make_consistent",
    "dynamics.constraints.diagnosis": "ConstraintReport diagnose_constraints",
    "dynamics.embedded_mass": "EmbeddedMass factor_mass",
    "dynamics.form": "form_equations",
    "dynamics.reactions.tension": "find_tension watch_stretch",
    "dynamics.tree_correction": "TreeCorrection correct_tree",
    "dynamics.truncation.correction": "Correction correction_terms",
    "dynamics.reactions.uniqueness": "Uniqueness find_uniqueness",
    "dynamics.waist.equations": "EquationsOfMotion",
    "dynamics.waist.handover": "Baumgarte",
    "dynamics.closing.close_positions": "close_positions",
    "dynamics.reactions.wrenches": "find_base_wrench find_constraint_wrenches",
    "interop.control": "to_nonlinear_control",
    "linear.along": "linearize_along",
    "linear.sweeps.campbell": "campbell",
    "linear.sweeps.campbell_result": "Campbell Crossing Instability",
    "linear.analysis.controllability": (
        "Controllability Observability check_controllability check_observability require_detectable "
        "require_stabilizable"
    ),
    "linear.sweeps.floquet": "Floquet floquet",
    "linear.analysis.mode_margins": "WeakMode",
    "linear.analysis.modes": "Modes find_locked_frequencies modes",
    "linear.linearize": "linearize",
    "linear.margins.classical": "ClassicalMargins classical_margins",
    "linear.margins.disk": "DiskMargin DiskMargins disk_margins perturbed_poles",
    "linear.margins.norms": "SystemNorm h2_norm h_infinity_norm",
    "linear.models.linear_model": "LinearModel",
    "linear.models.linear_trajectory": "LinearTrajectory",
    "linear.models.tangent": "displace_state subtract_states",
    "linear.operating_point": "OperatingPoint find_operating_point",
    "linear.reduction.reduce": "Reduction reduce_balanced reduce_modal",
    "maneuvers.compare": "ManeuverComparison ManeuverRow compare_maneuvers compare_near_minimum_time",
    "maneuvers.measure": "Flight measure_flight",
    "maneuvers.near_minimum_time": "Maneuver fly_plan plan_near_minimum_time",
    "maneuvers.shaped": "shape_motion shape_plan",
    "model.actuators": (
        "BodyForce BodyTorque ControlMomentGyro DistributedForce DistributedTorque JointForce JointTorque "
        "ReactionWheel Thruster"
    ),
    "model.attachments": "find_compliances",
    "model.bodies.base.effective_masses": "EffectiveMasses effective_masses",
    "model.bodies.base.flexible": "Proportional",
    "model.bodies.base.interfaces": "Compliance",
    "model.bodies.base.profile": "Profile SurfaceMesh",
    "model.bodies.beam.beam": "Beam",
    "model.bodies.fem.files": "load_fem read_matrix_market save_fem",
    "model.bodies.fem.model": "FemModel",
    "model.bodies.fem.nastran": "read_nastran",
    "model.bodies.modal.modal": "ModalBody",
    "model.bodies.plate.plate": "Plate",
    "model.bodies.rigid": "Frame RigidBody",
    "model.bodies.surface.patch": "SurfacePatch",
    "model.bodies.surface.shell_elements": "assemble_shell",
    "model.constraints": "Artificial Constraint Loop Natural NoRelativeRotation PointOnPlane",
    "model.transforms.counterpart": "rigid_counterpart",
    "model.elements": "JointSpring SpringDamper",
    "model.elements.drive": "Drive",
    "model.elements.drive_laws": "Friction HardeningSpring Stiction",
    "model.environment": "CentralGravity CircularOrbit EllipticOrbit FreeSpace UniformGravity",
    "model.files": "load_system register save_system",
    "model.joints": "Cartesian Cylindrical Fixed Free Helical Planar Prismatic Revolute Spherical Universal",
    "model.joints.redundant": "QuaternionFree",
    "model.sensors": "Acceleration AngularVelocity Attitude Position Velocity",
    "model.system": "Part System",
    "model.tethers": "Tether",
    "model.tethers.elastic_tether": "ElasticTether",
    "planners.plan_bang_bang": "plan_bang_bang",
    "planners.collocation.mesh": "Refinement",
    "planners.plan_collocation": "plan_collocation",
    "planners.collocation.transcription.schemes": "HermiteSimpson Radau",
    "planners.keep_out": "keep_out_box keep_out_sphere",
    "planners.paths.check": "PathReport check_path",
    "planners.paths.curves": "ArcCurve BlendCurve LineCurve SplineCurve",
    "planners.paths.limits": "AccelerationLimits FlexibleJointLimit GraspLimit SpeedLimits TorqueLimits",
    "planners.paths.path": "ImplicitPath JointPath SlewPath TaskPath",
    "planners.paths.solve": "SolvedPath solve_path",
    "planners.phase_plane.choice": "PathChoice choose_path",
    "planners.phase_plane.figure": "draw_phase_plane",
    "planners.phase_plane.plan_phase_plane": "PhasePlane plan_phase_plane",
    "planners.phase_plane.points": "SwitchPoint",
    "planners.phase_plane.reachability": "plan_reachability",
    "planners.plan": "Arc Plan",
    "planners.problem": "Condition Phases Problem",
    "planners.replay": "refly replay",
    "reports.page.figures": "draw_figure save_figure",
    "reports.page.page": "write_report",
    "simulation.batches.result": "SimulationBatch load_batch",
    "simulation.batches.simulate_many": "simulate_many",
    "simulation.load": "load_simulation",
    "simulation.results.simulation": "Simulation",
    "simulation.events": "Guard",
    "simulation.run.simulate": "simulate",
    "simulation.stages.impulses": "Impulse find_impulse",
    "simulation.stages.result": "StagedSimulation Transition",
    "simulation.stages.simulate_stages": "simulate_stages",
    "simulation.stages.stages": "Exit Impact Stage StageProduct combine_stages",
    "spatial.rotation": "rotation_about",
}
_WHERE = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = [*sorted(_WHERE), "library"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "library":
        item: Any = import_module("spacectl.model.library")
    elif name in _WHERE:
        item = suggest_keywords(import_module(f"spacectl.{_WHERE[name]}"), name)
    else:
        raise AttributeError(f"spacectl: {unknown_name('name', name, __all__)}")
    globals()[name] = item
    return item


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
