"""Planted faults in the dynamics, with its C kernels."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

MUTANTS = (
    Mutant(
        "dynamics.tree.outputs:energies",
        "potential - 0.5 * dot(rate",
        "potential - dot(rate",
        "dynamics/tree/test_gravity_gradient.py dynamics/tree/test_point_cloud.py",
    ),
    Mutant(
        "dynamics.tree.outputs:center_of_mass",
        "motion.X_NB.R @ inertia.first",
        "inertia.first",
        "dynamics/tree/test_point_cloud.py dynamics/waist/test_equations.py",
    ),
    Mutant(
        "dynamics.tree.mass_matrix:mass_matrix",
        "at_A = at_A.seen_from(attachment.X_BA)",
        "pass",
        "dynamics/flexible/test_flexible_cloud.py dynamics/flexible/test_flexible.py",
    ),
    Mutant(
        "dynamics.tree.actuation:unit_wrench",
        "cross(n[effort.at], along) if effort.at else",
        "",
        "dynamics/tree/test_point_cloud.py dynamics/tree/test_random_trees.py",
    ),
    Mutant(
        "dynamics.tree.actuation:_loop_column",
        "at_J = -pull_wrench",
        "at_J = pull_wrench",
        "dynamics/partitioning/test_loop_motors.py",
    ),
    Mutant(
        "dynamics.constraints.terms:ConstraintTerms.stabilised",
        "beta**2 * item.position",
        "beta * item.position",
        "dynamics/constraints/test_constraint_drift.py",
    ),
    Mutant(
        "dynamics.constraints.terms:ConstraintTerms._rate",
        "+ ca.jacobian(value, terms.t)",
        "",
        "dynamics/constraints/test_constraint_equations.py dynamics/constraints/test_constraint_cloud.py",
    ),
    Mutant(
        "dynamics.constraints.solvers:solve_partition",
        "A_c.T @ (f - M @ a)",
        "A_c.T @ f",
        "dynamics/constraints/test_constraint_equations.py dynamics/constraints/test_constraint_table.py",
    ),
    Mutant(
        "dynamics.constraints.solvers:solve_directions",
        "scale[:, None] * E)",
        "E)",
        "dynamics/constraints/test_artificial.py dynamics/constraints/test_constraint_equations.py",
    ),
    Mutant(
        "dynamics.constraints.solvers:require_agreement",
        "CONTRADICTION * size",
        "1e3 * size",
        "dynamics/constraints/test_constraint_states.py dynamics/constraints/test_constraint_data.py",
    ),
    Mutant(
        "dynamics.reactions.wrenches:_transmitted",
        "total -= pull_wrench",
        "total += pull_wrench",
        "dynamics/reactions/test_base_wrench.py",
    ),
    Mutant(
        "dynamics.reactions.tension:find_tension",
        "-(np.array(wrenches)[:, 3:6] @ axis)",
        "(np.array(wrenches)[:, 3:6] @ axis)",
        "dynamics/tree/test_tethers.py",
    ),
    Mutant(
        "dynamics.truncation.correction:Correction.mass",
        '-np.einsum("rsk,s->rk"',
        'np.einsum("rsk,s->rk"',
        "dynamics/flexible/test_correction.py",
    ),
    Mutant(
        "dynamics.adequacy:_authority",
        "inverse - mobility @",
        "inverse + mobility @",
        "dynamics/constraints/test_artificial_adequacy.py",
    ),
    Mutant(
        "dynamics.embedding.inertia:_Sums.fold_joint",
        "self.wrench[i] + inertia @ motion.bias",
        "self.wrench[i]",
        "dynamics/embedding/test_embedded.py dynamics/embedding/test_embedded_operators.py",
    ),
    Mutant(
        "dynamics/recursion/composite.c:sc_mass_matrix", "to->M += e->M;", "", "dynamics/recursion/test_native_calls.py"
    ),
    Mutant(
        "dynamics/recursion/composite.c:sc_input_map",
        "along, unit + 6 * k",
        "along, unit",
        "dynamics/recursion/test_native_calls.py",
    ),
    Mutant(
        "dynamics/recursion/sweep.c:sc_loads",
        "room.w[1] -= input * (point[2] * along[0]",
        "room.w[1] += input * (point[2] * along[0]",
        "dynamics/recursion/test_articulated.py dynamics/recursion/test_tree_inverse.py",
    ),
    Mutant(
        "dynamics/recursion/sweep.c:sc_tree_tau",
        "tau[k] -= joint[k]",
        "tau[k] += joint[k]",
        "dynamics/recursion/test_articulated.py dynamics/recursion/test_tree_inverse.py",
    ),
    Mutant(
        "dynamics/recursion/sweep.c:sc_place",
        "N[9 + i] = P[9 + i] +",
        "N[9 + i] =",
        "dynamics/recursion/test_articulated.py",
    ),
    Mutant(
        "dynamics/constraints/sharing.h:sc_share",
        "sqrt(compliance[i])",
        "compliance[i]",
        "dynamics/constraints/test_sharing.py",
    ),
    Mutant(
        "dynamics/constraints/sharing.h:sc_null",
        "sum / A[(long long)i * n + i]",
        "sum",
        "dynamics/constraints/test_sharing.py",
    ),
)
