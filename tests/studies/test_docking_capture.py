"""The study's claims: closed forms of the energy, momentum, and what holds after the latch has closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacectl.cli.lookup import load_study

STUDY = Path(__file__).resolve().parents[2] / "studies" / "docking_capture"


@pytest.fixture(scope="module")
def metrics() -> dict:
    study = load_study(STUDY / "study.py").study
    return dict(study.run(study.parameters, quick=True, progress=lambda done, what: None).metrics)


@pytest.mark.slow
def test_all_energy_of_approach_is_absorbed_as_in_a_plastic_capture(metrics: dict) -> None:
    """What is left after 30 s is exp(-2 * 0.5 * 30) of it; the integration leaves 1e-6 J."""
    for key in ("", "driven_"):
        assert metrics[f"{key}energy_absorbed"] == pytest.approx(metrics["energy_expected"], abs=1e-5)
        taken = sum(
            metrics[f"{key}{part}"] for part in ("capture_energy_loss", "energy_by_dampers", "energy_by_drives")
        )
        assert taken == pytest.approx(metrics["energy_expected"], abs=1e-5)
    for key in ("", "driven_", "misaligned_"):
        assert metrics[f"{key}energy_balance_error"] < 1e-5


@pytest.mark.slow
def test_impulse_stops_the_ring_and_no_more(metrics: dict) -> None:
    """Loss of a plastic capture of a mass between the ring's and that of ring and legs by the target, the chaser at rest."""
    speed, target = 0.1, 12000.0

    def loss(mass: float) -> float:
        return 0.5 * mass * target / (mass + target) * speed**2

    assert loss(24.0) < metrics["capture_energy_loss"] < loss(24.0 + 18.0)
    for key in ("", "driven_", "misaligned_"):
        assert metrics[f"{key}capture_momentum_error"] < 1e-14


@pytest.mark.slow
def test_latch_holds_the_pose_it_found(metrics: dict) -> None:
    for key in ("", "driven_", "misaligned_"):
        assert metrics[f"{key}latch_slip"] < 1e-7  # rates are held; places follow to the accuracy of the integration


@pytest.mark.slow
def test_drives_shorten_the_stroke(metrics: dict) -> None:
    assert metrics["driven_largest_stroke"] < metrics["largest_stroke"] < metrics["misaligned_largest_stroke"]
    assert metrics["driven_energy_by_drives"] > metrics["driven_energy_by_dampers"] > 0.0
