"""Laws designed on small models, judged on full ones."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Labels,
    LinearModel,
    LqgLaw,
    ModelError,
    check_spillover,
    design_kalman,
    design_lqg,
    design_lqr,
    design_pd,
    form_equations,
    library,
    linearize,
    reduce_modal,
)
from tests.controllers.plants import carts, double_integrator, flexible_modes

KEPT = ("eta1", "eta2")


def swayed(damping: float) -> LinearModel:
    """Four modes with one force; the sensor sits elsewhere, so that the higher ones come with the other sign."""
    w, push, seen = np.array([1.0, 2.0, 5.0, 9.0]), np.array([1.0, 1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0, 0.5])
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.diag(w**2), -np.diag(2.0 * damping * w)]])
    B = np.concatenate([np.zeros(4), push])[:, None]
    C = np.concatenate([np.zeros(4), seen])[None]
    names = (*(f"eta{k + 1}" for k in range(4)), *(f"eta{k + 1}_dot" for k in range(4)))
    u, y = Labels(("force",), ("N",), "input"), Labels(("rate",), ("m/s",), "output")
    return LinearModel(A=A, B=B, C=C, D=[[0.0]], x=Labels(names, (), "state"), u=u, y=y)


def law_on_two_modes(model: LinearModel) -> LqgLaw:
    small = reduce_modal(model, keep=2)
    regulator = design_lqr(model, Q=10.0, R=0.1, reduction=small)
    return design_lqg(regulator, design_kalman(model, process=1.0, measurement=1e-3, reduction=small))


def test_destabilised_mode_is_named() -> None:
    model = swayed(1e-3)
    found = check_spillover(law_on_two_modes(model), model)
    assert not found.is_stable and np.max(found.poles.real) > 0.0
    worst = found.destabilised[0]
    assert abs(worst.open_pole) == pytest.approx(5.0, rel=1e-6) and set(worst.states) <= {"eta3", "eta3_dot"}
    assert "destabilises the mode at 5 rad/s" in found.message and "GROWS" in found.table()


def test_damping_of_the_modes_left_out_makes_the_same_law_stable() -> None:
    model = swayed(0.4)
    found = check_spillover(law_on_two_modes(model), model)
    assert found.is_stable and found.destabilised == () and "is stable on the full model" in found.message


def test_state_feedback_from_all_modes_does_not_spill() -> None:
    model = flexible_modes(8)
    law = design_lqr(model, Q=1.0, R=1.0, reduction=reduce_modal(model, keep=4))
    found = check_spillover(law, model)
    closed = np.linalg.eigvals(np.asarray(model.A) - np.asarray(model.B) @ np.asarray(law.K))
    assert np.max(found.poles.real) == pytest.approx(np.max(closed.real), rel=1e-6)
    assert found.is_stable  # modal gains do not see the other modes, so their poles stay
    still = [mode for mode in found.modes if abs(mode.open_pole) > 10.0]
    assert still and all(abs(mode.open_pole - mode.closed_pole) < 1e-6 * abs(mode.open_pole) for mode in still)


def test_rigid_design_on_a_sprung_plant_is_matched_by_name() -> None:
    eom = carts()
    full = linearize(eom, eom.state())
    x = Labels(("slide", "slide_dot"), ("m", "m/s"), "state")
    rigid = LinearModel(
        A=[[0, 1], [0, 0]],
        B=[[0], [1.0 / 3.0]],
        C=np.zeros((0, 2)),
        D=np.zeros((0, 1)),
        x=x,
        u=full.u,
        y=Labels(kind="output"),
    )
    law = design_lqr(rigid, Q=1.0, R=1.0)
    found = check_spillover(law, full)
    K = np.array([[law.K[0, 0], 0.0, law.K[0, 1], 0.0]])
    closed = np.linalg.eigvals(np.asarray(full.A) - np.asarray(full.B) @ K)
    np.testing.assert_allclose(np.sort(found.poles.real), np.sort(closed.real), rtol=1e-10)


@pytest.mark.parametrize("period", [0.0, 0.002])
def test_any_law_can_be_analysed_and_unaffected_modes_are_reported(period: float) -> None:
    eom = form_equations(library.free_flyer_arm())
    law = design_pd(eom, kp=100.0, kd=60.0, period=period)
    found = check_spillover(law, linearize(eom, eom.state(joint2=0.5, joint4=-0.8)))
    assert found.destabilised == () and "leaves alone the mode at the origin" in found.message
    assert sum(mode.is_untouched for mode in found.modes) >= 6  # momentum and position of the base


def test_slow_sampling_destabilises_the_lightest_motion() -> None:
    """Held for T, the rates follow ``v+ = (1 - kd T M^-1) v``: only the motion of least inertia grows.

    Without the law all modes share the pole at zero, so that only the closed loop can name them.
    """
    eom = form_equations(library.free_flyer_arm())
    law = design_pd(eom, kp=100.0, kd=60.0, period=0.05)
    x = eom.state(joint2=0.5, joint4=-0.8)
    found = check_spillover(law, linearize(eom, x))
    mobility, shapes = np.linalg.eigh(np.linalg.inv(eom.mass_matrix(0.0, x[: eom.n_q]))[6:, 6:])
    assert np.sum(60.0 * 0.05 * mobility > 2.0) == 1
    moving = [eom.speeds[6 + i] for i in np.flatnonzero(np.abs(shapes[:, -1]) > 0.3)]
    assert [set(mode.states) for mode in found.destabilised] == [set(moving)]


def test_sampled_poles_agree_with_the_design() -> None:
    model = double_integrator()
    law = design_lqr(model, Q=1.0, R=1.0, period=0.2)
    found = check_spillover(law, model)
    np.testing.assert_allclose(np.sort(np.exp(found.poles * 0.2).real), np.sort(law.poles.real), rtol=1e-9)


def test_missing_states_and_measurements_are_named() -> None:
    full = linearize(carts(), carts().state())
    with pytest.raises(ModelError, match="gains for the wrong states: unknown state 'position'"):
        check_spillover(design_lqr(double_integrator(), Q=1.0, R=1.0), full)
    model = linearize(carts(), carts().state(), outputs=("rear_at.x",))
    law = design_lqg(design_lqr(model, Q=1.0, R=1.0), design_kalman(model, process=1.0, measurement=1.0), y_point=[0.0])
    with pytest.raises(ModelError, match="unknown output 'rear_at.x'"):
        check_spillover(law, linearize(carts(), carts().state(), outputs=("slide",)))
    with pytest.raises(ModelError, match="expected a ControlLaw and a LinearModel"):
        check_spillover(full, law)  # type: ignore[arg-type]
