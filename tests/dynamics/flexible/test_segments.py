"""Beams in segments: one body in the description, converging to the geometrically exact beam."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

from spacectl import (
    Beam,
    BodyForce,
    Constraint,
    Frame,
    JointTorque,
    Loop,
    Part,
    Position,
    Profile,
    Proportional,
    Revolute,
    RigidBody,
    Spherical,
    System,
    form_equations,
    linearize,
    simulate,
)
from spacectl.core.errors import ModelError
from spacectl.model.files import system_from_dict, system_to_dict
from spacectl.model.transforms.segments import cut_beam


def beam(**changes: object) -> Beam:
    return Beam(**{"name": "boom", "length": 2.0, "mass": 3.0, "EI": 40.0, "modes": 2, **changes})


def elastica(load: float) -> np.ndarray:
    """Tip of a cantilever (length and EI are 1) under a dead load across: x, y, slope; by shooting."""

    def shot(curvature: float) -> np.ndarray:
        def rate(s: float, z: np.ndarray) -> list[float]:
            return [np.cos(z[2]), np.sin(z[2]), z[3], -load * np.cos(z[2])]

        return solve_ivp(rate, (0.0, 1.0), [0.0, 0.0, 0.0, curvature], rtol=1e-10, atol=1e-12).y[:, -1]

    return shot(brentq(lambda k: shot(k)[3], 0.0, load))[:3]


def loaded_tip(segments: int, load: float) -> np.ndarray:
    """Position of the tip in balance."""
    body = Beam(
        name="b",
        length=1.0,
        mass=1.0,
        EI=1.0,
        modes=2,
        segments=segments,
        shapes="interface",
        interfaces=("root", "tip"),
    )
    push = BodyForce(name="push", on="b.tip", direction=(0.0, 1.0, 0.0), axes="world")
    sensor = Position(name="tip", on="b.tip")
    eom = form_equations(
        System(name="s", parts=(Part(body),), actuators=(push,), sensors=(sensor,)), formulation="kane"
    )
    q, none = np.zeros(eom.n_q), np.zeros(eom.n_v)
    for share in np.linspace(0.25, 1.0, 4):
        q = fsolve(lambda q: eom.bias(0.0, q, none) - eom.input_map(0.0, q)[:, 0] * share * load, q, xtol=1e-11)  # noqa: B023
    return eom.outputs(0.0, np.concatenate([q, none]), [load])


def test_a_bent_beam_converges_to_the_elastica() -> None:
    load = 1.0  # deflection of 0.30 L
    exact = elastica(load)
    errors = [abs(loaded_tip(n, load)[1] / exact[1] - 1.0) for n in (1, 4, 8)]
    assert errors[0] > 0.1
    assert errors[1] < 6e-3
    assert errors[2] < 0.4 * errors[1]


def test_names_of_the_whole_beam_serve_sensors_parts_constraints_and_rules() -> None:
    camera = Frame(name="camera", at=(0.9, 0.1, 0.0))
    payload = RigidBody(name="payload", mass=2.0, inertia=(0.1, 0.1, 0.1))
    system = System(
        name="s",
        parts=(
            Part(beam(segments=3, frames=(camera,), shapes="modes"), joint=Revolute()),
            Part(payload, on="boom.tip", joint=Revolute(name="wrist")),
            Part(RigidBody(name="box", mass=0.5, inertia=(0.1, 0.1, 0.1)), on="boom.camera"),
        ),
        actuators=(JointTorque(joint="boom"), JointTorque(joint="wrist")),
        sensors=(Position(name="tip", on="boom.tip", seen_from="boom"), Position(name="camera", on="boom.camera")),
        constraints=(Constraint(name="rail", rule=lambda s: s.position("boom.tip")[1] - s["boom"]),),
    )
    eom = form_equations(system)
    assert eom.coordinates[:3] == ("boom", "boom[1].eta1", "boom[1].eta2")
    assert len(eom.coordinates) == 1 + 6 + 1
    y = eom.outputs(0.0, eom.state(), np.zeros(2))
    assert y == pytest.approx([2.0, 0.0, 0.0, 0.9, 0.1, 0.0])
    assert eom.system.part("boom").name == "boom[1]"
    assert system_from_dict(system_to_dict(replace(eom.system, constraints=()))).aliases == eom.system.aliases
    assert system.parts[0].body.segments == 3  # the description stays as it was given


@pytest.mark.parametrize("formulation", ["kane", "multipliers", "udwadia_phohomsiri", "partitioned", "embedded"])
def test_all_formulations_serve_segments(formulation: str) -> None:
    crank = RigidBody(name="crank", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.2, 0.0, 0.0))
    system = System(
        name="s",
        parts=(
            Part(beam(segments=2, bending=("y", "z")), joint=Revolute(name="hub")),
            Part(crank, at=(2.0, -0.5, 0.0), joint=Revolute(name="crank")),
        ),
        constraints=(Loop(name="pin", a="boom.tip", b="crank", at_b=(0.0, 0.5, 0.0), joint=Spherical()),),
    )
    kane, other = (form_equations(system, formulation=name) for name in ("kane", formulation))
    x = kane.state(hub_dot=0.4)
    v = x[kane.n_q :]
    J = kane.call("constraints", 0.0, x[: kane.n_q], v)[2]
    v = v - np.linalg.pinv(J) @ (J @ v)
    expected = kane.v_dot(0.0, x[: kane.n_q], v, [])
    assert other.v_dot(0.0, x[: kane.n_q], v, []) == pytest.approx(
        expected, rel=1e-8, abs=1e-8 * np.abs(expected).max()
    )


def test_frequencies_and_the_damping_ratio_are_those_of_the_whole_beam() -> None:
    eom = form_equations(System(name="s", parts=(Part(beam(segments=3, damping=0.02)),)))
    poles = np.linalg.eigvals(linearize(eom, eom.state()).A)
    first = poles[poles.imag > 0.0][np.argmin(np.abs(poles[poles.imag > 0.0]))]
    exact = beam(shapes="modes").frequencies[0]
    assert abs(first) == pytest.approx(exact, rel=1e-4)
    assert -first.real / abs(first) == pytest.approx(0.02, rel=1e-3)
    pieces = cut_beam(beam(segments=3, damping=Proportional(beta=0.1)))
    assert pieces[1].damping_matrix == pytest.approx(0.1 * pieces[1].elasticity)


def test_pieces_share_tapered_properties() -> None:
    profile = Profile(x=(0.0, 0.5, 2.0), values=(2.0, 1.0, 0.5))
    body = beam(segments=3, mass=profile, EI=lambda x: 40.0 - 10.0 * x)
    pieces = cut_beam(body)
    total = sum(float(np.sum(piece.material.mass)) for piece in pieces)
    assert total == pytest.approx(float(np.sum(body.material.mass)), rel=1e-12)
    assert float(pieces[2].property_functions("EI")[0](np.array([0.1]))[0]) == pytest.approx(
        40.0 - 10.0 * (4.0 / 3.0 + 0.1)
    )


def test_a_run_beyond_the_theory_says_so_and_names_the_remedy() -> None:
    def run(segments: int, rate: float) -> dict:
        body = beam(segments=segments)
        eom = form_equations(System(name="s", parts=(Part(body),)))
        speed = next(name for name in eom.speeds if "eta1" in name)
        return simulate(eom, x0={speed: rate}, t_span=(0.0, 1.0)).outcome.stats

    with pytest.warns(UserWarning, match=r"body 'boom' bends beyond .* segments=\d"):
        far = run(1, 2.0)
    with pytest.warns(UserWarning, match=r"body 'boom\[1\]' .*use \d+ times as many segments for 'boom'"):
        run(2, 2.0)
    with pytest.warns(UserWarning, match=r"body 'boom' bends beyond .* qualitative at best; look for"):
        assert run(1, 100.0)["theory_error"] > 1.0  # no sensible number of segments
    near = run(1, 0.05)
    assert far["theory_error"] > 0.01 > near["theory_error"] > 0.0
    assert far["theory_error of boom"] == far["theory_error"]
    assert far["theory_error"] / near["theory_error"] == pytest.approx((2.0 / 0.05) ** 2, rel=0.3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"segments": 0}, ("segments is 0", "positive")),
        ({"segments": 2, "tip": "pinned"}, ("segments do not support end conditions",)),
        ({"segments": 2, "tip_mass": 1.0}, ("tip body",)),
        ({"segments": 2, "damping": (0.01, 0.02)}, ("one ratio", "Proportional(beta=...)")),
    ],
)
def test_what_segments_do_not_serve_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        beam(**changes)
    assert all(word in str(error.value) for word in ("Beam 'boom'", *words)), str(error.value)
