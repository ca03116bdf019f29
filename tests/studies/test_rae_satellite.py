"""RAE's constants against a beam of finite differences, and its histories against their closed forms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from spacectl import load_simulation
from spacectl.cli.main import run_command_line

STUDY = Path(__file__).resolve().parents[2] / "studies" / "rae_satellite"
LENGTH, DENSITY, EI, RATE = 228.75, 0.02, 6.033, 2.0 * np.pi / 13440.0


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("rae") / "out"
    assert run_command_line(["run", str(STUDY), "--out", str(out), "--quick"]) == 0
    return json.loads((out / "metrics.json").read_text()), out


def finite_elements(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Mass, stiffness and geometric stiffness (uniform axial field, field proportional to x) by Hermite elements."""
    h = LENGTH / n
    x, w = np.polynomial.legendre.leggauss(6)
    s, w = 0.5 * (x + 1.0), 0.5 * w
    N = np.array([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)])
    D = np.array([-6 * s + 6 * s**2, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2, h * (3 * s**2 - 2 * s)]) / h
    C = np.array([-6 + 12 * s, h * (-4 + 6 * s), 6 - 12 * s, h * (6 * s - 2)]) / h**2
    size = 2 * (n + 1)
    M, K, uniform, growing = (np.zeros((size, size)) for _ in range(4))
    for e in range(n):
        at, where = h * (e + s), slice(2 * e, 2 * e + 4)
        for A, weight, F in (
            (M, DENSITY, N),
            (K, EI, C),
            (uniform, DENSITY * (LENGTH - at), D),  # axial force of a unit field, from the tip
            (growing, 0.5 * DENSITY * (LENGTH**2 - at**2), D),
        ):
            A[where, where] += h * (F * (w * weight)) @ F.T
    return M[2:, 2:], K[2:, 2:], uniform[2:, 2:], growing[2:, 2:]


def test_constants_and_buckling_speed_are_those_of_finite_elements(done: tuple[dict, Path]) -> None:
    metrics, _ = done
    M, K, uniform, growing = finite_elements()
    squares, vectors = eigh(K, M)
    w1, shape = np.sqrt(squares[0]), vectors[:, 0]
    assert metrics["omega1"] == pytest.approx(w1, rel=1e-6)  # elements: (1/40)^4
    assert metrics["still"] == pytest.approx(3.0 * RATE**2 * shape @ growing @ shape / w1**2, rel=1e-5)
    assert metrics["rate"] == pytest.approx(2.0 * RATE * shape @ uniform @ shape / w1, rel=1e-5)
    assert metrics["constants_max_difference"] < 1e-9
    speed = 1.0 / np.max(eigh(2.0 * RATE * uniform, K + 3.0 * RATE**2 * growing, eigvals_only=True))
    assert metrics["critical_ydot"] == pytest.approx(speed, rel=1.5e-3)  # three modes (quick), from above
    assert metrics["critical_ydot"] > speed
    assert metrics["critical_ydot_one_mode"] == pytest.approx(metrics["critical_ydot_quadrature"], rel=1e-9)


def test_published_digits_agree_where_they_are_correct(done: tuple[dict, Path]) -> None:
    metrics, _ = done
    assert metrics["omega1"] == pytest.approx(0.00117, rel=5e-3) and metrics["gamma"] == pytest.approx(1.25, rel=5e-3)
    assert metrics["beta"] / metrics["omega1"] == pytest.approx(1340.0, rel=5e-3)  # the slip of units
    for name in ("rate", "acceleration"):  # they inherit 2.259 / 1.571
        assert metrics[f"{name}_printed"] / metrics[name] == pytest.approx(2.259 / 1.571, rel=0.02)
    assert abs(metrics["alpha_booms_1_3"]) < 1e-9 and metrics["alpha_booms_2_4"] == pytest.approx(3.0, rel=1e-9)


def test_booms_swing_as_their_stiffness_says(done: tuple[dict, Path]) -> None:
    """With all large motion prescribed the booms are linear oscillators, or grow as cosh."""
    metrics, out = done
    w1 = metrics["omega1"]
    slow, fast = (load_simulation(out / "result.nc", group=name) for name in ("linearised", "fast"))
    for k, sign in ((1, 1.0), (3, -1.0)):
        square = 1.0 + metrics["still"] + sign * metrics["rate"] * 0.235 / w1
        np.testing.assert_allclose(slow[f"boom{k}.eta1"], np.cos(w1 * np.sqrt(square) * slow.t), atol=1e-6)
    square = metrics["rate"] * 0.34 / w1 - 1.0 - metrics["still"]
    np.testing.assert_allclose(fast["boom3.eta1"], np.cosh(w1 * np.sqrt(square) * fast.t), rtol=1e-6)
    assert metrics["boom3_largest_at_ydot"] == pytest.approx(1.0, abs=1e-6)  # stable at the printed buckling speed


def test_a_negative_length_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["run", str(STUDY), "--out", str(tmp_path / "out"), "--quick", "--set", "length=-1"]) == 2
    assert "'length'" in capsys.readouterr().err
