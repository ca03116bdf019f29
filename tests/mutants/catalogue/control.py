"""Planted faults in linear analysis and in the controllers."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

LQG = "controllers/regulators/test_estimators.py"

MUTANTS = (
    # linear
    Mutant(
        "linear.margins.classical:classical_margins",
        "float(angle % (2.0 * np.pi)) / w",
        "abs(angle) / w",
        "linear/test_classical_margins.py",
    ),
    Mutant(
        "linear.margins.classical:classical_margins",
        "if abs(direct) < 1.0 else 0.0",
        "",
        "linear/test_classical_margins.py",
    ),
    Mutant(
        "linear.margins.disk:_margin",
        "1.0 - 0.5 * (1.0 + skew) * delta",
        "1.0 - 0.5 * (1.0 - skew) * delta",
        "linear/test_margins.py",
    ),
    Mutant(
        "linear.margins.disk:_guarantees",
        "(b * d + a * c) / (a * d + b * c)",
        "(b * d + a * c) / (2.0 * b * d)",
        "linear/test_margins.py",
    ),
    Mutant("linear.margins.disk:disk_margins", "0.5 * (skew - 1.0)", "0.5 * (skew + 1.0)", "linear/test_margins.py"),
    Mutant("linear.reduction.reduce:_make_static", "D=D - C[:, count:] @ by_u", "D=D", "linear/test_reduce.py"),
    Mutant("linear.reduction.reduce:reduce_balanced", "tails = 2.0 *", "tails =", "linear/test_reduce.py"),
    Mutant(
        "linear.sweeps.floquet:floquet",
        "np.log(multipliers.astype(complex)) / period",
        "np.log(multipliers.astype(complex))",
        "linear/test_periodic_motions.py",
    ),
    Mutant(
        "linear.analysis.modes:modes",
        "-poles.real / np.maximum(size",
        "poles.real / np.maximum(size",
        "linear/test_modes.py",
    ),
    Mutant("linear.analysis.modes:_energy", "total = real + imaginary", "total = real", "linear/test_modes.py"),
    Mutant(
        "linear.analysis.stability:judge_stability",
        "np.abs(poles.real) <= slack",
        "np.abs(poles.real) < 0.0",
        "linear/test_stability.py",
    ),
    Mutant(
        "linear.analysis.stability:judge_stability",
        "poles.real > slack",
        "poles.real > 0.0",
        "linear/test_stability.py",
    ),
    # controllers
    Mutant("controllers.regulators.lqg:_matrices", "[T * by_z @ stays, np.eye(k)]", "[by_z @ stays, np.eye(k)]", LQG),
    Mutant("controllers.regulators.lqg:_matrices", "T * (by_z @ L + by_y)", "(by_z @ L + by_y)", LQG),
    Mutant("controllers.regulators.lqg:_matrices", "-K @ L", "np.zeros((m, len(model.y)))", LQG),
    Mutant(
        "controllers.regulators.lqg:design_lqg",
        'change + M["z_u"] @ (ca.fmin(ca.fmax(u, bounds[0]), bounds[1]) - u)',
        "change",
        LQG,
    ),
    Mutant("controllers.regulators.estimators:design_kalman", "sample_noise(A, W_small, step)", "step * W_small", LQG),
    Mutant(
        "controllers.regulators.pd:design_pd",
        '(v_ref[i] - s[f"{coordinate}_dot"])',
        '(-s[f"{coordinate}_dot"])',
        "controllers/regulators/test_pd.py",
    ),
    Mutant(
        "controllers.regulators.lqr_pieces:Piece.gain",
        "change - (D_dot.T @ W @ D + D.T @ W @ D_dot) @ K",
        "change",
        "controllers/regulators/test_lqr_along.py",
    ),
    Mutant(
        "controllers.regulators.riccati_forms:DiscreteForm.miss",
        "+ K.T @ K + self.Q",
        "+ 1.001 * K.T @ K + self.Q",
        "controllers/regulators/test_riccati.py",
    ),
    Mutant(
        "controllers.analysis.law_loop:LoopGain._true_classical",
        "% (2.0 * np.pi)",
        "",
        "controllers/analysis/test_loop_margins.py",
    ),
    Mutant(
        "controllers.analysis.law_loop:LoopGain._true_classical",
        ">= 1.0 else np.inf",
        ">= 1e9 else np.inf",
        "controllers/analysis/test_loop_margins.py",
    ),
    Mutant(
        "controllers.analysis.discretise:integrate_weight",
        "step.T @ total @ step",
        "total",
        "controllers/regulators/test_lqr.py controllers/regulators/test_estimators.py",
    ),
    Mutant(
        "controllers.analysis.spillover:check_spillover",
        "last[k].real > first[k].real",
        "last[k].real < first[k].real",
        "controllers/analysis/test_spillover.py",
    ),
    Mutant(
        "controllers.shaping.impulses:find_impulses",
        "comb(n, k) * K**k",
        "comb(n, k)",
        "controllers/shaping/test_shaping.py",
    ),
    Mutant(
        "controllers.shaping.profiles:_durations",
        "float(far / v - 2.0 * e - f)",
        "float(far / v - e - f)",
        "controllers/shaping/test_profiles.py",
    ),
    Mutant(
        "controllers.wrappers.delay:pade_filter",
        "(2 * k + 1) * (row - before)",
        "(2 * k + 1) * (row + before)",
        "controllers/wrappers/test_delay_and_filters.py",
    ),
    Mutant(
        "controllers.wrappers.limits:limit_rate",
        'p["rate"] * period',
        'p["rate"]',
        "controllers/wrappers/test_wrappers.py",
    ),
    Mutant(
        "controllers.wrappers.windup:prevent_windup",
        "(law.period if law.is_sampled else 1.0)",
        "1.0",
        "controllers/wrappers/test_windup.py",
    ),
    Mutant(
        "controllers.model_based.model_inverse:_independence",
        "own / ca.trace",
        "1.0 / ca.trace",
        "controllers/model_based/test_authority.py",
    ),
)
