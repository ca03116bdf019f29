"""Planted faults in the simulation, with the C sources of its driver."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

DRIVER = "simulation/driver/test_driver_and_reference.py"

MUTANTS = (
    Mutant(
        "simulation.stages.entry:is_rest",
        "np.all(np.abs(rates[rows_of(eom, impact.contacts)]) < impact.rest_speed)",
        "np.any(np.abs(rates[rows_of(eom, impact.contacts)]) < impact.rest_speed)",
        "simulation/stages/test_rest_speed.py",
    ),
    Mutant(
        "simulation.stages.entry:is_rest",
        "np.abs(rates[rows_of(eom, impact.contacts)]) < impact.rest_speed",
        "rates[rows_of(eom, impact.contacts)] > -impact.rest_speed",
        "simulation/stages/test_rest_speed.py",
    ),
    Mutant(
        "simulation.stages.entry:close_gaps",
        "if worst:",
        "if not worst:",
        "simulation/stages/test_stages.py",
    ),
    Mutant(
        "simulation.run.laws:_bind_control_law",
        "eom.labels.u.indices(law.inputs.names)",
        "tuple(range(len(law.inputs)))",
        "simulation/run/test_laws.py",
    ),
    Mutant(
        "simulation.run.laws:BoundLaw.stops",
        'self.reference.interpolation == "cubic"',
        "True",
        "simulation/run/test_references.py simulation/run/test_laws.py",
    ),
    Mutant(
        "simulation.run.guard_functions:GuardAccessor.__init__",
        "t - entry",
        "t",
        "simulation/run/test_guards.py simulation/stages/test_stages.py",
    ),
    Mutant(
        "codegen.binding:_bind_generated",
        "require_finite_constants(f)",
        "pass",
        "simulation/driver/test_tiers.py codegen/test_finite_constants.py simulation/run/test_failures.py",
    ),
    Mutant(
        "simulation/driver/rk.h:sc_error", "e_second = L->sum_second[m] / scale", "e_second = L->sum[m] / scale", DRIVER
    ),
    Mutant(
        "simulation/driver/rk.h:sc_dense",
        "p % 2 == 0 ? f : 1.0 - f",
        "f",
        "simulation/driver/test_accuracy.py " + DRIVER,
    ),
    Mutant("simulation/driver/rk.h:sc_factor", "-0.85 / order", "-0.75 / order", DRIVER),
    Mutant(
        "simulation/driver/guards.h:sc_is_clear",
        "least > 2.0 * deviation",
        "1",
        "simulation/driver/test_hidden_crossings.py",
    ),
    Mutant(
        "simulation/driver/guards.h:sc_crosses",
        "direction <= 0 && before > 0.0 && after <= 0.0",
        "before > 0.0 && after <= 0.0",
        "simulation/run/test_guards.py",
    ),
    Mutant(
        "simulation/driver/guards.h:sc_guard_values",
        "if (t > L->t_limit) t = L->t_limit;",
        "",
        "simulation/run/test_guards.py simulation/run/test_references.py simulation/driver/test_kinks.py",
    ),
    Mutant(
        "simulation/driver/kinks.h:sc_change_in_step",
        "return h * largest",
        "return 0.0 * h * largest",
        "simulation/driver/test_kinks.py",
    ),
    Mutant(
        "simulation/driver/kinks.h:sc_pass_kink",
        "L->is_ignored[k] = L->n_close[k] >= SC_CHATTER",
        "L->is_ignored[k] = 1",
        "simulation/driver/test_kinks.py",
    ),
    Mutant(
        "simulation/driver/adams.h:sc_adams_attempt",
        "sigma *= (double)i * L->ratios[i - 1]",
        "sigma *= (double)i",
        "simulation/driver/test_adams.py",
    ),
    Mutant(
        "simulation/driver/adams.h:sc_adams_predict",
        "L->spans[i - 1] + h",
        "L->spans[i - 1]",
        "simulation/driver/test_adams.py",
    ),
    Mutant(
        "simulation/driver/lu.h:sc_lu",
        "fabs(a[i * n + k]) > largest",
        "i == k",
        "simulation/driver/test_kernels.py",
    ),
    Mutant(
        "simulation/driver/table.h:sc_table",
        "is_inside ? (ra + f * (2.0 * c2 + f * 3.0 * c3)) / length : 0.0",
        "(ra + f * (2.0 * c2 + f * 3.0 * c3)) / length",
        "simulation/driver/test_kernels.py",
    ),
    Mutant(
        "simulation/driver/table.h:sc_interval",
        "knots[middle] <= t",
        "knots[middle] < t",
        "simulation/run/test_references.py " + DRIVER,
    ),
    Mutant(
        "simulation/driver/right_hand_side.h:sc_excess",
        "L->u_low[i] - L->u_commanded[i]",
        "L->u_low[i]",
        "simulation/driver/test_kinks.py simulation/results/test_saturation.py",
    ),
)
