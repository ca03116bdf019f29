"""Fields of the description as run-time parameters: the same as a system that is written with the other value."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacectl import (
    Beam,
    BodyForce,
    Cartesian,
    CircularOrbit,
    DistributedForce,
    Drive,
    ElasticTether,
    Fixed,
    Frame,
    JointTorque,
    Loop,
    ModalBody,
    ModelError,
    Part,
    Plate,
    Position,
    Profile,
    Proportional,
    ReactionWheel,
    Revolute,
    RigidBody,
    Spherical,
    SpringDamper,
    System,
    Tether,
    UniformGravity,
    form_equations,
    linearize,
)
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.physical_names import PhysicalNames

HUB = RigidBody(name="hub", mass=90.0, inertia=(20.0, 30.0, 25.0))
LOAD = RigidBody(name="load", mass=5.0, inertia=(0.4, 0.5, 0.6), com=(0.1, 0.0, 0.0))
BEAM: dict[str, Any] = {"name": "a1", "length": 8.0, "mass": 6.0, "EI": 1.2e3}
BOTH = {"EI": (1.2e3, 2.0e3), "bending": ("y", "z"), "torsion": 1, "GJ": 400.0, "rotary": (0.02, 0.008, 0.012)}


def carried(body: Any, **more: Any) -> System:
    """A body on a hinge, with a load, a force and a sensor at its tip."""
    return System(
        name="carried",
        parts=(
            Part(body, at=(0.5, 0.0, 0.0), joint=Revolute(name="hinge", axis="z")),
            Part(LOAD, on="a1.tip", at=(0.2, 0.0, 0.0)),
        ),
        actuators=(JointTorque(joint="hinge"), BodyForce(name="push", on="a1.tip", direction="y")),
        sensors=(Position(name="seen", on="a1.tip"),),
        **more,
    )


def beam(**fields: Any) -> System:
    return carried(Beam(**{**BEAM, "damping": 0.01, **fields}))


def tip_body(**fields: Any) -> System:
    """Own ends and a tip body: modes; gravity and a load along the beam."""
    body = Beam(**{**BEAM, "tip_mass": 2.0, "tip_inertia": 0.3, "damping": 0.02, **fields})
    return System(
        name="tower",
        parts=(Part(body, joint=Fixed()),),
        environment=UniformGravity(g=(-9.0, 0.5, 0.0)),
        actuators=(DistributedForce(name="wind", on="a1", density=2.0, direction="y"),),
    )


def closed(**fields: Any) -> System:
    """A loop through the tip of a beam."""
    body = Beam(**{**BEAM, "damping": 0.01, **fields})
    crank = RigidBody(name="crank", mass=3.0, inertia=(0.1, 2.0, 2.0), com=(1.0, 0.0, 0.0))
    return System(
        name="linkage",
        parts=(
            Part(crank, joint=Revolute(name="motor", axis="z")),
            Part(body, on="crank", at=(2.0, 0.0, 0.0), joint=Revolute(name="pin", axis="z")),
        ),
        constraints=(Loop(name="rocker", a="world", b="a1.tip", at_a=(9.0, 3.0, 0.0), joint=Revolute(axis="z")),),
        actuators=(JointTorque(joint="motor"),),
    )


def plate(**fields: Any) -> System:
    sizes = {"length": 3.0, "width": 1.2, "thickness": 0.02, "mass": 9.0, "E": 5e8, "nu": 0.3, "terms": 6}
    return carried(Plate(**{"name": "a1", "modes": 1, "damping": 0.01, "frames": ("corner_right",), **sizes, **fields}))


def modal(**fields: Any) -> System:
    points = np.array([[1.0, 0.0, 0.0], [2.0, 0.1, 0.0], [3.0, 0.0, 0.0]])
    shapes = np.zeros((3, 3, 2))
    shapes[:, 1, 0], shapes[:, 2, 1] = (0.1, 0.4, 1.0), (0.2, 0.5, 0.9)
    data = {
        "points": points,
        "masses": (1.0, 1.5, 0.5),
        "shapes": shapes,
        "stiffness": (40.0, 90.0),
        "slopes": 0.5 * shapes,
    }
    return carried(
        ModalBody(**{"name": "a1", "frames": (Frame(name="tip", at=points[2]),), "damping": 0.02, **data, **fields})
    )


def rigid(**fields: Any) -> System:
    """Wheel, drive, springs and orbit: what is no body."""
    own = {"wheel": 0.7, "rotor": 2e-3, "period": 5400.0, "stiffness": 300.0, "mass": 5.0, **fields}
    load = replace(LOAD, mass=own["mass"])
    return System(
        name="bus",
        parts=(
            Part(HUB, on="orbit", joint=Spherical(name="base")),
            Part(load, on="hub", at=(1.0, 0.2, 0.0), joint=Revolute(name="hinge", axis="z")),
        ),
        environment=CircularOrbit(period=own["period"]),
        actuators=(ReactionWheel(name="wheel", on="hub", axis="x", inertia=own["wheel"]),),
        elements=(
            Drive(name="drive", joint="hinge", ratio=50.0, rotor_inertia=own["rotor"], stiffness=200.0, damping=0.3),
            SpringDamper(name="spring", on_a="hub", on_b="load", at_a=(0.3, 1.0, 0.0), at_b=(0.4, 0.3, 0.1),
                         stiffness=own["stiffness"], length=0.5),
        ),
    )  # fmt: skip


def line(**fields: Any) -> System:
    own = {"length": 40.0, "density": 0.01, "stiffness": 4e3, "damping": 30.0, **fields}
    far = RigidBody(name="far", mass=20.0, inertia=(1.0, 1.0, 1.0))
    return System(
        name="line",
        parts=(Part(far, joint=Cartesian(name="far"), at=(60.0, 0.0, 0.0)),),
        elements=(ElasticTether(name="a1", on="world", to="far", masses=1, **own),),
    )


def straight(**fields: Any) -> System:
    far = RigidBody(name="far", mass=20.0, inertia=(1.0, 1.0, 1.0))
    return System(
        name="straight",
        parts=(Part(far, on="a1"),),
        elements=(Tether(name="a1", on="world", **{"length": 40.0, "density": 0.01, **fields}),),
    )


#: A system of fields, its own values beside the defaults, another value of each field, and the names of these
CASES: dict[str, tuple[Callable[..., System], dict[str, Any], dict[str, Any]]] = {
    "length": (beam, {}, {"length": 9.5}),
    "stiffness": (beam, {**BOTH, "modes": 1}, {"EI": (900.0, 2.6e3), "GJ": 320.0}),
    "mass and damping": (beam, {}, {"mass": 7.3, "damping": 0.03}),
    "ratios": (beam, {**BOTH, "modes": 1, "damping": (0.01, 0.02, 0.03)}, {"EI": (2.5e3, 1.1e3), "length": 7.0}),
    "proportional": (beam, {"damping": Proportional(alpha=0.1, beta=0.01)}, {"damping": Proportional(alpha=0.2, beta=0.02)}),
    "shear": (beam, {"GA": 5e4, "rotary": (0.0, 0.0, 0.02)}, {"EI": 2e3, "GA": 3e4}),
    "profile": (beam, {"modes": 2, "EI": Profile(x=(0, 4, 8), values=(1e3, 2e3, 5e2))},
                {"EI": Profile(x=(0, 3, 8), values=(2e3, 1e3, 7e2))}),
    "segments": (beam, {"segments": 2, "modes": 1}, {"length": 9.0, "EI": 1.5e3, "damping": 0.02}),
    "strain": (beam, {"order": "strain", "EA": 1e5, "extension": 1}, {"EA": 2e5, "length": 7.0}),
    "modes": (tip_body, {}, {"length": 6.0, "tip_mass": 4.0, "EI": 2e3, "tip_inertia": 0.5}),
    "string": (tip_body, {"EI": 0.0, "tension": 30.0, "tip_inertia": 0.0}, {"tension": 50.0}),
    "loop": (closed, {}, {"length": 8.5, "EI": 3e3, "mass": 5.0}),
    "plate": (plate, {}, {"length": 3.4, "width": 1.0, "E": 7e8}),
    "plate section": (plate, {"bending_stiffness": 350.0, "modes": 1}, {"bending_stiffness": 400.0, "thickness": 0.03}),
    "modal": (modal, {}, {"stiffness": (50.0, 70.0), "masses": (2.0, 1.0, 0.7), "damping": 0.04}),
    "elastic tether": (line, {}, {"length": 55.0, "density": 0.02, "stiffness": 3e3, "damping": 10.0}),
    "tether": (straight, {}, {"length": 55.0, "density": 0.02}),
}  # fmt: skip
OTHER = {
    "wheel": "wheel.inertia",
    "rotor": "drive.rotor_inertia",
    "period": "environment.period",
    "stiffness": "spring.stiffness",
    "mass": "load.mass",
}


@pytest.fixture(autouse=True)
def _few_shapes() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*static compliance.*")
        yield


def states(eom: EquationsOfMotion) -> tuple[np.ndarray, np.ndarray]:
    noise = np.random.default_rng(3)
    x = np.asarray(eom.x_rest) + 0.05 * noise.standard_normal(eom.n_x)
    return eom.state(x), noise.standard_normal(eom.n_u)


def evaluate(eom: EquationsOfMotion, p: Any = None) -> dict[str, np.ndarray]:
    x, u = states(eom)
    q, v = x[: eom.n_q], x[eom.n_q :]
    found = {
        "M": eom.mass_matrix(0.0, q, p),
        "h": eom.bias(0.0, q, v, p),
        "energy": np.array([eom.energy(0.0, q, v, p)]),
        "x_dot": eom.x_dot(0.0, x, u, p),
        "y": eom.outputs(0.0, x, u, p),
    }
    if not eom.constraint_rows and eom.n_v < 5:
        model = linearize(eom, x, u, p=p, check=False)
        found |= {"A": np.asarray(model.A), "B": np.asarray(model.B)}
    return found


def assert_alike(eom: EquationsOfMotion, p: Any, written: EquationsOfMotion) -> None:
    """The equations with p and those of the system written anew agree in every function, and differ from the original."""
    vector = eom.parameters.vector(p)
    for name in written.parameters.names:
        value = written.parameters.get(name)
        size = np.max(np.abs(value), initial=0.0)
        np.testing.assert_allclose(eom.parameters.get(name, vector), value, rtol=1e-10, atol=1e-12 * size, err_msg=name)
    ours, theirs, before = evaluate(eom, p), evaluate(written), evaluate(eom)
    for name, value in theirs.items():
        np.testing.assert_allclose(
            ours[name], value, rtol=1e-10, atol=1e-10 * max(np.max(np.abs(value), initial=0.0), 1e-300)
        )
    assert not np.allclose(before["x_dot"], theirs["x_dot"], rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("case", CASES)
def test_same_as_written_anew(case: str) -> None:
    build, own, changes = CASES[case]
    eom = form_equations(build(**own))
    names = {f"a1.{key}": value for key, value in changes.items()}
    assert_alike(eom, names, form_equations(build(**{**own, **changes})))


@pytest.mark.parametrize("key", OTHER)
def test_what_is_no_flexible_body(key: str) -> None:
    values = {"wheel": 0.9, "rotor": 3e-3, "period": 6000.0, "stiffness": 400.0, "mass": 8.0}
    assert_alike(form_equations(rigid()), {OTHER[key]: values[key]}, form_equations(rigid(**{key: values[key]})))


def test_other_forms_of_equations() -> None:
    """Constraints that switch, and one body each: numbers are found by name in them too."""
    changes = {"length": 8.5, "EI": 3e3}
    names = {f"a1.{key}": value for key, value in changes.items()}
    for build, options in ((closed, {"switchable": True}), (beam, {"coordinates": "absolute"})):
        eom, written = (form_equations(build(**more), **options) for more in ({}, changes))  # type: ignore[arg-type]
        assert_alike(eom, names, written)


@settings(max_examples=4, deadline=None)
@given(
    length=st.floats(2.0, 20.0),
    EI=st.floats(1e2, 1e5),
    mass=st.floats(0.5, 50.0),
    damping=st.floats(1e-3, 0.2),
    modes=st.integers(1, 2),
    is_loaded=st.booleans(),
)
def test_any_beam(length: float, EI: float, mass: float, damping: float, modes: int, is_loaded: bool) -> None:
    """The numbers of a random beam are those of a beam written that way, to rounding."""
    fields = {"length": length, "EI": EI, "mass": mass, "damping": damping}
    build = beam if is_loaded else tip_body
    own, written = build(modes=modes), build(modes=modes, **fields)
    names = PhysicalNames(own, lambda system: system, own.parameters(), ())
    p = names.vector({f"a1.{key}": value for key, value in fields.items()})
    np.testing.assert_allclose(p, np.asarray(written.parameters().values), rtol=1e-12, atol=0.0)


def test_the_mass_of_a_beam_changes_all_its_inertia() -> None:
    """A number of the same name is not enough: twice the mass is twice every inertia integral."""
    eom = form_equations(tip_body(tip_mass=0.0, tip_inertia=0.0))
    p = eom.parameters.vector({"a1.mass": 12.0})
    for name in ("mass", "first0", "first1", "fields", "modal_mass"):
        ours, own = eom.parameters.get(f"a1.{name}", p), eom.parameters.get(f"a1.{name}")
        if name == "fields":  # points of equal masses: their fields scale with the square root
            assert not np.allclose(ours, own)
        else:
            np.testing.assert_allclose(ours, 2.0 * own, rtol=1e-12, atol=1e-15)


def test_errors_name_the_part_and_the_cure() -> None:
    eom = form_equations(beam(**BOTH))
    vector = eom.parameters.vector
    own = eom.parameters.get("a1.stiffness")
    with pytest.raises(ModelError, match=r"'a1.EI' and 'a1.stiffness'.*one or the other"):
        vector({"a1.EI": 2e3, "a1.stiffness": own})
    with pytest.raises(ModelError, match=r"'a1.EI'.*another 'a1.stiffness'.*together"):
        vector({"a1.EI": 2e3}, vector({"a1.stiffness": 1.1 * own}))
    with pytest.raises(ModelError, match=r"'a1.dampin'; did you mean 'a1.damping'"):
        vector({"a1.dampin": 0.02})
    with pytest.raises(ModelError, match=r"a1.EA'"):  # it has no extension
        vector({"a1.EA": 2e3})
    with pytest.raises(ModelError, match=r"'a1.rotary'.*vary=\('a1\.\w+',\)"):  # symmetric slices are structure
        form_equations(beam(**{**BOTH, "rotary": (0.02, 0.01, 0.01)})).parameters.vector(
            {"a1.rotary": (0.02, 0.01, 0.02)}
        )
    with pytest.raises(ModelError, match=r"Beam 'a1': damping ratio -1 is negative"):
        vector({"a1.damping": -1.0})
    with pytest.raises(ModelError, match="Beam 'a1': EI is a function of x"):
        form_equations(beam(EI=lambda x: 1e3 + x)).parameters.vector({"a1.length": 7.0})


def test_a_field_that_no_number_shows_is_refused() -> None:
    """Alone and beside one that has an effect: never partly applied."""
    eom = form_equations(beam(EA=1e5))  # without shapes of extension
    for changes in ({"a1.EA": 2e5}, {"a1.EA": 2e5, "a1.EI": 2e3}):
        with pytest.raises(ModelError, match=r"'a1.EA': no run-time parameter depends on it"):
            eom.parameters.vector(changes)
    system = closed()
    loop = replace(system.constraints[0], compliance=1e-6)  # how redundant constraints share loads: not a number of p
    eom = form_equations(replace(system, constraints=(loop,)))
    with pytest.raises(ModelError, match=r"'rocker.compliance', 'a1.EI': the form of the equations would change"):
        eom.parameters.vector({"rocker.compliance": 2e-6, "a1.EI": 2e3})


def test_zero_damping_is_structure_until_freed() -> None:
    with pytest.raises(ModelError, match=r"'a1.damping'.*vary=\('a1.modal_damping',\)"):
        form_equations(beam(damping=0)).parameters.vector({"a1.damping": 0.02})
    eom = form_equations(beam(damping=0), vary=("a1.modal_damping",))
    assert_alike(eom, {"a1.damping": 0.02}, form_equations(beam(damping=0.02)))
    undamped = form_equations(beam()).parameters.vector({"a1.damping": 0.0})
    np.testing.assert_array_equal(undamped[eom.parameters.where("a1.modal_damping")], 0.0)


def test_numbers_beside_fields_of_other_parts() -> None:
    eom = form_equations(beam())
    both = eom.parameters.vector({"a1.EI": 2e3, "load.mass": 9.0})
    base = eom.parameters.vector({"load.mass": 9.0})
    np.testing.assert_array_equal(both, eom.parameters.vector({"a1.EI": 2e3}, base))
    assert eom.parameters.get("load.mass", both) == 9.0
