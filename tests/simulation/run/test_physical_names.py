"""Fields of the description by name wherever run-time parameters are taken, and derivatives by them."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import control
import numpy as np
import pytest

from spacectl import (
    Beam,
    JointTorque,
    ModalBody,
    ModelError,
    Part,
    Plate,
    Profile,
    Proportional,
    Revolute,
    RigidBody,
    System,
    Tether,
    campbell,
    find_operating_point,
    form_equations,
    linearize,
    simulate,
    simulate_many,
    to_nonlinear_control,
)
from spacectl.cli.main import run_command_line
from spacectl.core.studies.study import override_parameters, parameter_value
from spacectl.dynamics.formulations.switching import stage_numbers
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.rebuild import flatten
from spacectl.reports.page.summary import parameter_rows
from spacectl.reports.scene.motion import find_motion

pytestmark = pytest.mark.filterwarnings("ignore:.*static compliance.*")
LOAD = RigidBody(name="load", mass=5.0, inertia=(0.4, 0.5, 0.6))
RUN = {"t_span": (0.0, 0.5), "grid": 5, "rtol": 1e-9}


def arm(**fields: Any) -> System:
    own = {"length": 4.0, "mass": 3.0, "EI": 900.0, "damping": 0.02, **fields}
    return System(
        name="arm",
        parts=(Part(Beam(name="a1", **own), joint=Revolute(name="hinge", axis="z")), Part(LOAD, on="a1.tip")),
        actuators=(JointTorque(joint="hinge"),),
    )


@cache
def equations() -> EquationsOfMotion:
    return form_equations(arm())


@cache
def softer() -> EquationsOfMotion:
    return form_equations(arm(EI=600.0, length=4.4))


SOFT = {"a1.EI": 600.0, "a1.length": 4.4}


def test_runs_and_batches() -> None:
    eom, start = equations(), equations().state(**{"hinge_dot": 0.3, "a1.eta1": 0.05})
    wanted = simulate(softer(), x0=start, **RUN).x
    np.testing.assert_allclose(simulate(eom, x0=start, p=SOFT, **RUN).x, wanted, rtol=0.0, atol=1e-9)
    each = [{**SOFT, "a1.EI": EI} for EI in (600.0, 900.0)]
    listed = simulate_many(eom, x0=start, p=each, threads=1, **RUN).x
    named = simulate_many(eom, x0=start, p={**SOFT, "a1.EI": [600.0, 900.0]}, threads=1, **RUN).x
    np.testing.assert_array_equal(listed, named)
    np.testing.assert_allclose(listed[0], wanted, rtol=0.0, atol=1e-9)
    assert np.max(np.abs(listed[1] - listed[0])) > 1e-4


def test_analysis_and_control() -> None:
    eom, x = equations(), equations().state()
    wanted = linearize(softer(), x)
    np.testing.assert_allclose(linearize(eom, x, p=SOFT).A, wanted.A, rtol=1e-10)
    point = find_operating_point(eom, q={"hinge": 0.2}, p=SOFT)
    assert point.outcome.is_success
    found = campbell(eom, {"a1.EI": [600.0, 900.0]}, p={"a1.length": 4.4}, point={"q": {"hinge": 0.0}})
    np.testing.assert_allclose(np.max(found.poles[0].imag), np.max(wanted.poles.imag), rtol=1e-9)
    plant = to_nonlinear_control(eom)
    u = np.array([1.0])
    state = softer().state(hinge_dot=0.3)
    np.testing.assert_allclose(plant.dynamics(0.0, state, u, SOFT), softer().x_dot(0.0, state, u), rtol=1e-10)
    assert isinstance(plant, control.NonlinearIOSystem)


def test_equations_of_another_process() -> None:
    again = pickle.loads(pickle.dumps(equations()))
    np.testing.assert_array_equal(again.parameters.vector(SOFT), equations().parameters.vector(SOFT))


def test_stages_change_a_part_at_once() -> None:
    @dataclass
    class Stage:
        active: tuple[str, ...]
        p: dict[str, Any]

    eom = form_equations(arm(), switchable=True)
    np.testing.assert_array_equal(stage_numbers(eom, Stage((), SOFT)), eom.parameters.vector(SOFT))
    with pytest.raises(ModelError, match="give all changes of a part together"):
        stage_numbers(eom, Stage((), {"a1.damping": 0.1}), eom.parameters.vector({"a1.EI": 600.0}))


def difference(key: str, value: float) -> np.ndarray:
    """dA by central differences of systems written anew."""
    step = 2e-4 * value
    models = [form_equations(arm(**{key: value + sign * step})) for sign in (1.0, -1.0)]
    ahead, behind = (np.asarray(linearize(eom, eom.state(), check=False).A) for eom in models)
    return (ahead - behind) / (2.0 * step)


DERIVATIVES = {
    "EI": (900.0, "closed form"),
    "damping": (0.02, "closed form"),
    "length": (4.0, "central differences"),
    "mass": (3.0, "central differences"),
}


@pytest.mark.parametrize("key", DERIVATIVES)
def test_derivatives_of_the_linear_model(key: str) -> None:
    value, method = DERIVATIVES[key]
    model = linearize(equations(), equations().state(), sensitivities=(f"a1.{key}", "load.mass"))
    assert model.sensitivity_methods[f"a1.{key}"].startswith(method)
    assert model.sensitivity_methods["load.mass"] == "exact"
    wanted = difference(key, value)
    np.testing.assert_allclose(
        model.sensitivities[f"a1.{key}"][:, :, 0], wanted, rtol=1e-5, atol=1e-7 * np.max(np.abs(wanted))
    )


BOTH = {"bending": ("y", "z"), "EI": (900.0, 1500.0), "torsion": 1, "GJ": 300.0, "rotary": (0.05, 0.0, 0.0), "modes": 1}
LINE = Tether(name="a1", on="world", length=9.0)
PANEL = Plate(name="a1", length=2.0, width=1.0, thickness=0.02, mass=4.0, E=1e9, modes=1, terms=6, damping=0.02)
CLOSED: dict[str, tuple[Any, str]] = {
    "ratios": (arm(**BOTH, damping=(0.01, 0.02, 0.03)), "a1.EI"),
    "torsion": (arm(**BOTH), "a1.GJ"),
    "damping ratios": (arm(**BOTH, damping=(0.01, 0.02, 0.03)), "a1.damping"),
    "proportional": (arm(damping=Proportional(alpha=0.1, beta=0.02)), "a1.EI"),
    "alpha and beta": (arm(damping=Proportional(alpha=0.1, beta=0.02)), "a1.damping"),
    "segments": (arm(segments=2), "a1.EI"),
    "segment damping": (arm(segments=2), "a1.damping"),
    "extension": (arm(EA=1e5, extension=1), "a1.EA"),
    "tether": (System(name="t", parts=(Part(LOAD, on="a1"),), elements=(LINE,)), "a1.length"),
    "plate": (System(name="t", parts=(Part(PANEL, joint=Revolute(name="hinge", axis="z")),)), "a1.E"),
}


@pytest.mark.parametrize("case", CLOSED)
def test_closed_forms(case: str) -> None:
    """Of the numbers, against differences of systems that are built anew."""
    system, name = CLOSED[case]
    known = form_equations(system).parameters
    found, method = known.derivative(name)
    assert method == "closed form"
    wanted, other = known.physical._differences(system, name, {})
    assert other.startswith("central differences")
    assert np.any(wanted)
    for number in known.names:
        ours, theirs = found[known.where(number)], wanted[known.where(number)]
        size = max(np.max(np.abs(known.get(number)), initial=0.0), 1.0)  # some numbers of a plate are rounding alone
        rounding = 1e-9 * size / np.min(flatten(known.physical.value(name)))
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=rounding, err_msg=number)


def test_damping_of_modes_that_mix() -> None:
    """Another entry of K turns the modes, whose ratios differ: closed form against bodies with another K."""
    shapes = np.zeros((2, 3, 2))
    shapes[:, 1] = ((0.3, 0.1), (1.0, -0.4))
    own = {"name": "a1", "points": ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)), "masses": (1.0, 2.0), "shapes": shapes}
    K = np.array([[40.0, 5.0], [5.0, 90.0]])
    body = ModalBody(**own, stiffness=K, damping=(0.01, 0.05))
    found = body.number_derivatives("stiffness")
    assert found is not None
    for k in range(4):
        unit = np.eye(4)[k].reshape(2, 2)
        step = 1e-3 * (unit + unit.T) / 2.0
        ahead, behind = (replace(body, stiffness=K + sign * step).damping_matrix for sign in (1.0, -1.0))
        wanted = (ahead - behind)[np.triu_indices(2)] / 2e-3
        np.testing.assert_allclose(found["modal_damping"][:, k], wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"GA": 1e4, "rotary": (0.0, 0.0, 0.01)}, "a1.EI"),  # shapes depend on the ratio of bending to shear
        ({"EI": Profile(x=(0.0, 4.0), values=(900.0, 400.0))}, "a1.EI"),
        ({"tension": 20.0}, "a1.EI"),
    ],
)
def test_no_closed_form_where_shapes_change(fields: dict[str, Any], name: str) -> None:
    known = form_equations(arm(modes=1, **{**fields})).parameters
    found, method = known.derivative(name)
    assert method.startswith("central differences")
    assert np.any(found[known.where("a1.stiffness")])


def test_derivative_at_other_values() -> None:
    """K is linear in EI, D of ratios goes with its root, wherever the derivative is taken."""
    known = equations().parameters
    at, _ = known.derivative("a1.EI", {"a1.EI": 3600.0})
    own, _ = known.derivative("a1.EI")
    np.testing.assert_allclose(at[known.where("a1.stiffness")], own[known.where("a1.stiffness")], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        2.0 * at[known.where("a1.modal_damping")], own[known.where("a1.modal_damping")], rtol=1e-9, atol=1e-12
    )
    with pytest.raises(ModelError, match="give all changes of a part together, by name"):
        known.derivative("a1.EI", known.vector({"a1.EI": 3600.0}))


@dataclass(frozen=True)
class Numbers:
    arm: System = arm()
    duration: float = 2.0


def test_studies_take_fields_of_their_systems() -> None:
    changed = override_parameters(Numbers(), {"a1.EI": "600", "a1.length": 4.4, "duration": "3"})
    assert changed.arm == arm(EI=600.0, length=4.4)
    assert (changed.duration, parameter_value(changed, "a1.EI"), parameter_value(changed, "duration")) == (
        3.0,
        600.0,
        3.0,
    )
    remarks = {row.key: row.remark for row in parameter_rows(changed, Numbers(), {})}
    assert remarks["a1.EI"] == "changed from 900"
    with pytest.raises(ModelError, match=r"'a1.dampin'; did you mean 'a1.damping'"):
        override_parameters(Numbers(), {"a1.dampin": "1"})


STUDY = """
from dataclasses import dataclass, field
from spacectl import Beam, Part, Revolute, System, form_equations, linearize, modes
from spacectl.core.studies.study import Study, StudyResult

def arm():
    beam = Beam(name="a1", length=4.0, mass=3.0, EI=900.0)
    return System(name="arm", parts=(Part(beam, joint=Revolute(name="hinge", axis="z")),))

@dataclass(frozen=True)
class Parameters:
    arm: System = field(default_factory=arm)

def run(parameters, *, quick, progress):
    eom = form_equations(parameters.arm)
    return StudyResult(metrics={"stiffness": float(eom.parameters.get("a1.stiffness")[0])})

STUDY = Study(question="How stiff?", parameters=Parameters(), run=run)
"""


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "stiff"
    folder.mkdir()
    (folder / "study.py").write_text(STUDY, encoding="utf-8")
    (folder / "README.md").write_text("**Metrics.** `stiffness` [N/m].\n", encoding="utf-8")
    found = []
    for k, more in enumerate(([], ["--set", "a1.EI=1800"])):
        assert run_command_line(["run", str(folder), "--out", str(tmp_path / f"out{k}"), "--json", *more]) == 0
        found.append(capsys.readouterr().out)
    values = [float(text.split('"stiffness": ')[1].split("\n")[0].rstrip(",")) for text in found]
    assert values[1] == pytest.approx(2.0 * values[0], rel=1e-12)
    assert '"a1.EI": 1800.0' in found[1]
    assert run_command_line(["run", str(folder), "--out", str(tmp_path / "bad"), "--set", "a1.E=1"]) == 2


def test_arrays_as_values_and_names_that_are_no_texts() -> None:
    pair = form_equations(arm(EI=(900.0, 800.0), bending=("y", "z")))
    wanted = pair.parameters.vector({"a1.EI": (600.0, 700.0)})
    np.testing.assert_array_equal(pair.parameters.vector({"a1.EI": np.array([600.0, 700.0])}), wanted)
    np.testing.assert_array_equal(
        equations().parameters.vector({"a1.EI": np.float32(600.0)}), equations().parameters.vector({"a1.EI": 600.0})
    )
    batch = simulate_many(pair, p={"a1.EI": np.array([[600.0, 700.0], [900.0, 800.0]])}, x0=None, threads=1, **RUN)
    np.testing.assert_array_equal(batch.dataset["p"][0], wanted)
    for wrong in ({3: 1.0}, {"a1.EI": object()}, {"a1.EI": {"y": 1.0}}):
        with pytest.raises(ModelError, match=r"3|EI"):
            equations().parameters.vector(wrong)


def test_theory_and_replay_read_the_bodies_of_the_parameters() -> None:
    """A beam of twice the length turns by half the angle at the same deflection; its tip is drawn where it is."""
    start, changes = equations().state(**{"a1.eta1": 0.3}), {"a1.length": 8.0}
    longer = form_equations(arm(length=8.0))
    runs = [simulate(longer, x0=start, **RUN), simulate(equations(), x0=start, p=changes, **RUN)]
    wanted, found = (run.outcome.stats["theory_error of a1"] for run in runs)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    batch = simulate_many(equations(), x0=start, p=[changes, {}], threads=1, **RUN)
    own = simulate(equations(), x0=start, **RUN).outcome.stats["theory_error of a1"]
    np.testing.assert_allclose(batch.dataset["theory_error"], [wanted, own], rtol=1e-9)
    assert own > 2.0 * wanted
    motion = find_motion(runs[1], most=5)
    np.testing.assert_allclose(motion.place("a1.tip")[1], find_motion(runs[0], most=5).place("a1.tip")[1], atol=1e-9)
    np.testing.assert_allclose(motion.place("a1.tip")[1], motion.p["load"], atol=1e-12)
