"""The multiplicative attitude filter: exact without noise, consistent with its covariance with noise, and refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    ControlLaw,
    Labels,
    ModelError,
    Simulation,
    add_noise,
    design_attitude_filter,
    design_lqr,
    displace_state,
    linearize,
    make_law,
    simulate,
)
from spacectl.spatial.rotation import quaternion_conjugate, quaternion_product
from tests.controllers.plants import measured_body

T = 0.5
ATTITUDE = ("base.rx", "base.ry", "base.rz", "base.wx", "base.wy", "base.wz")
GYRO, STAR = ("gyro.wx", "gyro.wy", "gyro.wz"), ("star.s1", "star.s2", "star.s3")
EOM = measured_body()
LEVELS = {"gyro_noise": 2e-4, "bias_noise": 1e-6, "attitude_noise": 2e-3}


def regulator() -> ControlLaw:
    weights = dict(zip(ATTITUDE, [1.0, 1.0, 1.0, 50.0, 50.0, 50.0], strict=True))
    return design_lqr(linearize(EOM, EOM.state()), Q=weights, R=0.01, reduction=ATTITUDE, period=T)


def filtered(law: ControlLaw, **changes: Any) -> ControlLaw:
    given = {"joint": "base", "gyro": GYRO, "attitude": STAR, "attitude_deviation": 0.1, "bias_deviation": 1e-3}
    return design_attitude_filter(law, **{**given, **LEVELS, **changes})


def biased(law: ControlLaw, bias: np.ndarray) -> ControlLaw:
    """The same law with a constant added to its gyro."""
    f = law.function
    symbols = [ca.SX.sym(f.name_in(i), *f.size_in(i)) for i in range(f.n_in())]
    shifted = [*symbols[:2], symbols[2] + ca.vertcat(*bias, 0.0, 0.0, 0.0), *symbols[3:]]
    return replace(law, function=ca.Function("law", symbols, f.call(shifted), f.name_in(), f.name_out()))


def angles(sim: Simulation) -> np.ndarray:
    """Rotation vectors from the estimated to the true attitude at every record, shape (n_t, 3)."""
    q = sim.dataset["z"].sel(memory=[f"filter.q{axis}" for axis in "wxyz"]).values
    rows = []
    for hat, true in zip(q, sim.x[:, :4], strict=True):
        e = quaternion_product(quaternion_conjugate(hat), true)
        rows.append(2.0 * e[1:4] * np.sign(e[0]))
    return np.array(rows)


def test_large_turn_is_estimated_and_regulated_without_noise() -> None:
    start = displace_state(EOM, EOM.state(), np.concatenate([np.radians([100.0, -60.0, 50.0]), np.zeros(9)]))
    guess = displace_state(EOM, start, np.concatenate([[0.1, -0.1, 0.05], np.zeros(9)]))[:4]
    law = filtered(regulator(), quaternion=guess)
    sim = simulate(EOM, biased(law, np.array([1e-3, -5e-4, 2e-4])), x0=start, t_span=(0.0, 400.0), grid=801)
    late = sim.t > 200.0
    assert np.max(np.abs(angles(sim)[late])) < 1e-4  # from 0.15 rad; the mean of two gyro readings makes O(T^3)
    z = sim.dataset["z"].sel(memory=[f"filter.bias_{axis}" for axis in "xyz"]).values
    np.testing.assert_allclose(z[-1], [1e-3, -5e-4, 2e-4], atol=2e-5)
    assert np.linalg.norm(sim.x[-1, 1:4]) < 1e-3 and abs(np.linalg.norm(z[-1])) > 0.0


def test_errors_are_as_large_as_the_covariance_says() -> None:
    """Normalised squared errors over 40 runs with noise, bias and initial error drawn from the covariances of the filter."""
    rng = np.random.default_rng(2)
    spin = make_law(lambda s: [0.0, 0.0, 0.0], name="no torque", states=EOM.labels.x, inputs=EOM.labels.u, period=T)
    gyro = LEVELS["gyro_noise"] / np.sqrt(T)  # a reading, held for T, with the density asked for
    plain = filtered(spin)
    noisy = add_noise(
        plain, {**dict.fromkeys(GYRO, gyro), **dict.fromkeys(STAR, LEVELS["attitude_noise"] / 4.0)}, seed=1
    )
    keys = [k for k, name in enumerate(noisy.parameters.names) if name.rpartition(".")[2].startswith("key")]
    start = EOM.state(**{"base.wx": 0.02, "base.wy": -0.01, "base.wz": 0.03})
    squares = []
    names = [f"filter.P{i + 1}{j + 1}" for i in range(6) for j in range(i, 6)]
    for _ in range(40):
        p, z0 = np.array(noisy.p), np.array(noisy.z0)
        p[keys] = rng.integers(0, 2**26, len(keys))
        # the bias is zero in truth, so its estimate starts wrong by a draw
        z0[noisy.memory.indices([f"filter.bias_{axis}" for axis in "xyz"])[0] :][:3] = 1e-3 * rng.normal(size=3)
        guess = displace_state(EOM, start, np.concatenate([0.1 * rng.normal(size=3), np.zeros(9)]))[:4]
        z0[noisy.memory.index("filter.qw") :][:4] = guess
        sim = simulate(EOM, replace(noisy, p=p, z0=z0), x0=start, t_span=(0.0, 30.0), grid=[10.0, 30.0])
        z = sim.dataset["z"]
        for k, theta in enumerate(angles(sim)):
            P = np.zeros((6, 6))
            P[np.triu_indices(6)] = z.sel(memory=names).values[k]
            P = P + np.triu(P, 1).T
            b = -z.sel(memory=[f"filter.bias_{axis}" for axis in "xyz"]).values[k]
            e = np.concatenate([theta, b])
            squares.append(e @ np.linalg.solve(P, e))
    # 40 runs at two times, nearly independent: chi-squared of 6 degrees, mean 6, deviation sqrt(12 / 80) = 0.39
    assert np.mean(squares) == pytest.approx(6.0, abs=4.0 * 0.39)


def test_first_sample_corrects_by_the_ratio_of_variances() -> None:
    law = filtered(regulator())
    theta = np.array([0.01, 0.0, 0.0])
    sigma = np.tan(theta / 4.0)
    y = np.concatenate([np.zeros(3), sigma])
    _, _, z = law.function(0.0, EOM.state(), y, np.asarray(law.z0), [], np.asarray(law.p))
    memory = dict(zip(law.memory.names, np.array(z).reshape(-1), strict=True))
    share = 0.1**2 / (0.1**2 + 2e-3**2)
    assert 2.0 * np.arctan2(memory["filter.qx"], memory["filter.qw"]) == pytest.approx(share * 0.01, rel=1e-10)
    assert memory["filter.P11"] == pytest.approx(0.1**2 * (1.0 - share), rel=1e-9)
    assert memory["filter.P44"] == pytest.approx(1e-6) and memory["filter.started"] == 1.0


def test_law_sees_estimates_and_other_states_as_they_are() -> None:
    seen = make_law(
        lambda s: [s["base.qx"], s["base.wy"], s["base.x"]],
        name="look",
        states=EOM.labels.x,
        inputs=EOM.labels.u,
        period=T,
    )
    law = filtered(seen, attitude_deviation=10.0)  # nearly only the sensor
    x = EOM.state(**{"base.x": 7.0, "base.wy": 9.0})
    sigma = np.tan(0.2 / 4.0)
    u = law(0.0, x, [0.1, 0.2, 0.3, sigma, 0.0, 0.0])
    np.testing.assert_allclose(u, [np.sin(0.1), 0.2, 7.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": "bas"}, "joint 'bas': unknown state 'bas.qw'"),
        ({"gyro": ("gyro.wx",)}, "expected the names of three measurements"),
        ({"attitude_noise": 0.0}, "attitude_noise is 0"),
        ({"bias_noise": -1.0}, "bias_noise is -1"),
        ({"quaternion": (1.0, 1.0, 0.0, 0.0)}, "of unit norm"),
        ({"period": 0.1}, "has period 0.5 s"),
        ({"period": 0.0}, "the filter is sampled"),
    ],
)
def test_wrong_arguments_raise(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        filtered(regulator(), **changes)


def test_unknown_measurement_raises_in_the_simulation() -> None:
    law = filtered(regulator(), gyro=("gyro.a", "gyro.b", "gyro.c"))
    with pytest.raises(ModelError, match="unknown measurement 'gyro.a'"):
        simulate(EOM, law, t_span=(0.0, 1.0))
    assert isinstance(law.measurements, Labels)
