"""Planted faults in planners and maneuvers."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

MUTANTS = (
    Mutant(
        "planners.paths.limit_rows:_rule",
        "ca.horzcat(0.5 * curve, slope, value)",
        "ca.horzcat(0.0 * curve, slope, value)",
        "planners/test_limits.py",
    ),
    Mutant(
        "planners.paths.limit_rows:_rule",
        "ca.horzcat(0.5 * curve, slope, value)",
        "ca.horzcat(curve, slope, value)",
        "planners/test_limits.py",
    ),
    Mutant(
        "planners.paths.limit_rows:_flexible_joint",
        "terms(motion), direction",
        "terms(motion), np.append(direction[:3], np.zeros(3))",
        "planners/test_limits.py",
    ),
    Mutant(
        "planners.paths.limit_rows:_halves",
        "rows[:, 2 * at + 1, 3] += np.where(np.isfinite(low), low, 0.0)",
        "rows[:, 2 * at + 1, 3] -= np.where(np.isfinite(low), low, 0.0)",
        "planners/test_limits.py",
    ),
    Mutant(
        "planners.paths.rule:form_rule",
        "ca.jtimes(slope, both, rates)",
        "ca.jtimes(slope, q, dq)",
        "planners/test_paths.py",
    ),
    Mutant(
        "planners.paths.rule:form_rule",
        "-ca.jtimes(N @ dq, q, dq)",
        "0.0 * ca.jtimes(N @ dq, q, dq)",
        "planners/test_paths.py",
    ),
    Mutant(
        "planners.phase_plane.timing:Law.cell_acceleration", "0.5 * np.diff", "np.diff", "planners/test_phase_timing.py"
    ),
    Mutant(
        "planners.phase_plane.profile:_end",
        "float(min(speed, high[k]) ** 2)",
        "float(min(speed, high[k]))",
        "planners/test_phase_plane.py planners/test_phase_grids.py",
    ),
    Mutant(
        "planners/phase_plane/phase_plane.c:interval",
        "y0 < 0.5 * (y1 + y2) && y1 >= 0.0",
        "y1 >= 0.0",
        "planners/test_phase_kernels.py planners/test_phase_plane.py",
    ),
    Mutant(
        "planners/phase_plane/phase_plane.c:step",
        "0.5 * c[2] / y0",
        "c[2] / y0",
        "planners/test_phase_kernels.py planners/test_phase_plane.py",
    ),
    Mutant(
        "planners.collocation.mesh:refine_mesh",
        "np.clip(np.ceil(wanted), 2, 4)",
        "np.clip(np.ceil(wanted), 1, 1)",
        "planners/test_collocation.py",
    ),
    Mutant(
        "planners.bang_bang.motion:Goal.one_sided",
        "* factor + self.margin",
        "* factor - self.margin",
        "planners/test_bang_bang.py",
    ),
    # maneuvers
    Mutant(
        "maneuvers.measure:motion_energy",
        "0.5 * factor * np.einsum",
        "0.5 * np.einsum",
        "maneuvers/test_near_minimum_time.py",
    ),
    Mutant("maneuvers.measure:_over_limits", "u / low", "-u / low", "maneuvers/test_measure.py"),
    Mutant(
        "maneuvers.near_minimum_time:input_weights",
        "1.0 / (share * value) ** 2",
        "1.0 / (share * value)",
        "maneuvers/test_near_minimum_time.py",
    ),
    Mutant("maneuvers.near_minimum_time:energy_weights", "omega**2 * M", "omega * M", "maneuvers/test_weights.py"),
    Mutant(
        "maneuvers.shaped:shape_motion",
        "slow**2 * rate[:, n:]",
        "slow * rate[:, n:]",
        "maneuvers/test_near_minimum_time.py",
    ),
    Mutant(
        "maneuvers.settling:extend_inputs",
        "np.vstack([values, trim, trim])",
        "np.vstack([values, values[-1:], values[-1:]])",
        "maneuvers/test_near_minimum_time.py",
    ),
)
