"""Flexible bodies as data: wrong descriptions are refused with the part and the cure, right ones survive files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import Beam, Fixed, Frame, Free, ModalBody, Part, Revolute, System, UniformGravity, form_equations
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.base.damping import Proportional
from spacectl.model.bodies.base.profile import Profile
from spacectl.model.files import load_system, save_system

DATA = {
    "name": "panel",
    "points": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
    "masses": [1, 1, 1],
    "stiffness": [100.0, 300.0],
    "shapes": [[[0, 0], [0, 0], [0, 0]], [[0, 0], [0.3, -0.5], [0, 0]], [[0, 0], [1, 1], [0, 0]]],
}
NAN = np.nan
RISING = Profile(x=(0.0, 1.0), values=(1.0, 2.0))


def beam(**changes) -> Beam:
    return Beam(**{"name": "boom", "length": 2.0, "mass": 3.0, "EI": 50.0, **changes})


def panel(**changes) -> ModalBody:
    return ModalBody(**{**DATA, **changes})


def hung(body, joint=None, **changes) -> System:
    return System(name="s", parts=(Part(body, joint=joint or Fixed(), **changes),))


BAD_BEAMS = [
    ({"length": 0.0}, ("length", "0 m", "positive")),
    ({"length": NAN}, ("length", "finite")),
    ({"mass": 0.0}, ("mass", "0 kg/m", "positive")),
    ({"mass": -1.0}, ("mass", "-0.5 kg/m")),
    ({"mass": lambda x: 1.0 - x}, ("mass", "-1 kg/m somewhere")),
    ({"mass": "3"}, ("mass", "without quotes")),
    ({"EI": 0.0}, ("EI is 0", "positive stiffness")),
    ({"EI": -5.0}, ("EI is -5", "positive stiffness")),
    ({"EI": NAN}, ("EI", "finite")),
    ({"EI": None}, ("bending needs the stiffness EI",)),
    ({"EI": (1.0, 2.0, 3.0)}, ("EI has 3 entries", "along y, along z")),
    ({"EI": lambda x: 1.0 - x}, ("EI is -1 somewhere",)),
    ({"EI": lambda x: "soft"}, ("EI", "expected one number")),
    ({"EI": lambda x: NAN}, ("EI", "not finite")),
    ({"EI": lambda x: 2.0 + abs(x - 1.0)}, ("EI", "not smooth", "Profile")),
    ({"EI": RISING}, ("EI", "from x = 0 to 1 m", "expected 0 to 2 m")),
    ({"mass": Profile(x=(0.5, 2.0), values=(1.0, 2.0))}, ("mass", "from x = 0.5 to 2 m")),
    ({"modes": 0}, ("modes is 0", "positive number")),
    ({"modes": 1.5}, ("modes is 1.5",)),
    ({"modes": True}, ("modes is True",)),
    ({"modes": (1, 2)}, ("modes is (1, 2)", "'y'")),
    ({"bending": ("x",)}, ("bending", "'y', 'z'")),
    ({"bending": ("y", "y")}, ("bending", "once each")),
    ({"bending": ()}, ("no shapes", "RigidBody")),
    ({"root": "welded"}, ("root is 'welded'", "clamped, pinned, sliding, free")),
    ({"tip": ["free"]}, ("tip is ['free']",)),
    ({"torsion": 1}, ("torsion needs the stiffness GJ",)),
    ({"torsion": 1, "GJ": 3.0}, ("torsion needs inertia", "rotary=")),
    ({"torsion": -1}, ("torsion is -1", "0 or more")),
    ({"extension": 1}, ("extension needs the stiffness EA",)),
    ({"GA": 0.0}, ("GA is 0", "positive stiffness")),
    ({"torsion": 1, "GJ": 3.0, "rotary": (1.0, 0.0, 0.0), "warping": -1.0}, ("warping is -1",)),
    ({"rotary": (-1.0, 0.0, 0.0)}, ("rotary", "0 or more")),
    ({"rotary": (1.0, 0.0)}, ("rotary", "(3,)")),
    ({"tension": -1.0}, ("tension is -1", "0 or more")),
    ({"tip_mass": -1.0}, ("tip_mass is -1",)),
    ({"shapes": "exact"}, ("'exact'", "modes, polynomials or functions of x")),
    ({"shapes": (3,)}, ("functions of x",)),
    ({"shapes": (lambda x: x**2,), "modes": 2}, ("1 shape functions for 2 modes",)),
    ({"shapes": (lambda x: NAN,)}, ("not finite", "0 and 2 m")),
    ({"shapes": (lambda x: abs(x - 1.0),)}, ("not smooth",)),
    ({"shapes": (lambda x: 0.0,)}, ("modal mass matrix is singular", "eta1", "remove")),
    ({"shapes": (lambda x: x**2, lambda x: 2 * x**2), "modes": 2}, ("singular", "eta1, eta2")),
    ({"shapes": (lambda x: x,)}, ("stiffness is not positive", "rigid-body shapes")),
    ({"shapes": (lambda x: x**2, lambda x: x**2 + x), "modes": 2}, ("stiffness is not positive", "rigid-body")),
    ({"shapes": "polynomials", "tip": "sliding"}, ("sliding", "shapes='modes'")),
    ({"damping": -0.1}, ("damping ratio -0.1", "0 or more")),
    ({"damping": NAN}, ("damping", "finite")),
    ({"damping": "1 %"}, ("damping", "expected numbers")),
    ({"damping": (0.1, 0.2)}, ("damping has shape (2,)", "Proportional")),
    ({"modes": 2, "damping": [[1.0, 2.0], [0.0, 1.0]]}, ("damping matrix", "not symmetric")),
    ({"damping": Proportional(alpha=-1.0)}, ("damping matrix", "eigenvalues >= 0")),
    ({"frames": (Frame(name="far", at=(3.0, 0.0, 0.0)),)}, ("frame 'far'", "x = 3 m", "0 to 2 m")),
    ({"frames": (Frame(name="a"), Frame(name="a", at=(1.0, 0, 0)))}, ("same name", "'a'")),
    ({"frames": (Frame(name="tip", at=(1.0, 0.0, 0.0)),)}, ("frame 'tip'", "x = 1 m", "ends at 2 m", "omit it")),
    ({"frames": Frame(name="a")}, ("frames", "single Frame")),
    ({"order": "exact"}, ("order is 'exact'", "consistent")),
    ({"order": "strain"}, ("strain", "extension")),
]

BAD_PANELS = [
    ({"points": [[0.0, 0.0]]}, ShapeError, ("points", "(n, 3)")),
    ({"points": [[0, 0, 0], [1, 0, NAN], [2, 0, 0]]}, ModelError, ("points", "finite")),
    ({"masses": [1, 1]}, ShapeError, ("masses", "(3,)")),
    ({"masses": [1, -1, 1]}, ModelError, ("masses", "-1 kg", "0 or more")),
    ({"masses": [0, 0, 0]}, ModelError, ("masses", "sum positive")),
    ({"shapes": np.zeros((3, 2))}, ShapeError, ("shapes", "(3, 3, m)")),
    ({"shapes": np.zeros((2, 3, 2))}, ShapeError, ("shapes", "(3, 3, m)")),
    ({"shapes": np.zeros((3, 3, 2))}, ModelError, ("modal mass matrix is singular", "eta1", "remove")),
    ({"shapes": np.full((3, 3, 2), NAN)}, ModelError, ("shapes", "finite")),
    ({"slopes": np.zeros((3, 2))}, ShapeError, ("slopes", "(3, 3, 2)")),
    ({"second": np.zeros((3, 3, 2))}, ShapeError, ("second", "(3, 3, 2, 2)")),
    ({"second": np.arange(36.0).reshape(3, 3, 2, 2)}, ModelError, ("second is not symmetric", "transpose")),
    ({"second_slopes": np.arange(36.0).reshape(3, 3, 2, 2)}, ModelError, ("second_slopes is not symmetric",)),
    ({"rotary": np.ones(3)}, ShapeError, ("rotary", "(3, 3, 3)")),
    ({"rotary": -np.ones((3, 3))}, ModelError, ("rotary", "negative")),
    ({"rotary": np.arange(27.0).reshape(3, 3, 3)}, ModelError, ("rotary", "not symmetric")),
    ({"stiffness": [0.0, 1.0]}, ModelError, ("stiffness is not positive", "rigid-body shapes")),
    ({"stiffness": [-1.0, 1.0]}, ModelError, ("stiffness is not positive", "-1.3")),
    ({"stiffness": [[1.0, 2.0], [2.0, 1.0]]}, ModelError, ("stiffness is not positive",)),
    ({"stiffness": [[1.0, 2.0], [0.0, 1.0]]}, ModelError, ("stiffness matrix is not symmetric",)),
    ({"stiffness": [1.0]}, ShapeError, ("stiffness", "(2, 2)")),
    ({"stiffness": [NAN, 1.0]}, ModelError, ("stiffness", "finite")),
    ({"damping": [0.1, 0.2, 0.3]}, ShapeError, ("damping has shape (3,)", "2 ratios")),
    (
        {"frames": (Frame(name="a", at=(0.5, 0, 0)),)},
        ModelError,
        ("frame 'a'", "not at a material point", "add a point"),
    ),
    ({"frames": (Frame(name="a"), Frame(name="a"))}, ModelError, ("same name",)),
    ({"order": "no"}, ModelError, ("order is 'no'", "consistent")),
]


@pytest.mark.parametrize(("changes", "words"), BAD_BEAMS, ids=[", ".join(words) for _, words in BAD_BEAMS])
def test_a_wrong_beam_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        beam(**changes)
    assert all(word in str(error.value) for word in ("Beam 'boom'", *words)), str(error.value)


@pytest.mark.parametrize(("changes", "kind", "words"), BAD_PANELS, ids=[", ".join(item[2]) for item in BAD_PANELS])
def test_a_wrong_modal_body_is_refused(changes: dict, kind: type, words: tuple[str, ...]) -> None:
    with pytest.raises(kind) as error:
        panel(**changes)
    assert all(word in str(error.value) for word in ("ModalBody 'panel'", *words)), str(error.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hung(beam(shapes=lambda x: 1.0 + x**2)), ("part 'boom'", "eta1", "displacement of 1", "clamped")),
        (lambda: hung(panel(), child_at=(1.0, 0.0, 0.0)), ("part 'panel'", "eta2", "displacement of 0.5")),
        (lambda: hung(beam(), child_at=(1.0, 0.0, 0.0)), ("part 'boom'", "eta1", "displacement")),
        (lambda: Proportional(alpha=NAN), ("Proportional: alpha", "finite")),
        (lambda: Profile(x=(0.0, 1.0, 1.0), values=(1.0, 2.0, 3.0)), ("profile", "ascend")),
        (lambda: Profile(x=(0.0, 1.0), values=(1.0,)), ("profile: values", "(2,)")),
    ],
)
def test_shapes_that_move_at_the_joint_are_refused(make, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_floating_frame_takes_any_shapes() -> None:
    assert hung(beam(root="free", modes=2), Free(name="base")).parts[0].body.n_modes == 2


def test_a_longer_beam_needs_its_tip_moved() -> None:
    boom = beam()
    with pytest.raises(ModelError, match="frames=\\(\\)"):
        replace(boom, length=3.0)
    longer = replace(boom, length=3.0, frames=())
    assert np.asarray(longer.frames[0].at).tolist() == [3.0, 0.0, 0.0]
    with pytest.raises(ModelError, match="from x = 0 to 2 m"):  # a function was fitted over the old length
        replace(beam(EI=lambda x: 5.0 - x), length=3.0, frames=())


def everything() -> System:
    boom = beam(
        EI=(Profile(x=(0.0, 0.7, 2.0), values=(60.0, 50.0, 20.0)), 40.0), mass=lambda x: 2.0 - 0.5 * x, GJ=30.0,
        EA=900.0, GA=300.0, warping=2.0, rotary=(0.2, 0.1, 0.1), bending=("y", "z"), modes=(2, 1), torsion=1, extension=1,
        tip_mass=1.0, tip_inertia=0.1, tension=3.0, damping=Proportional(alpha=0.1, beta=1e-4),
        frames=(Frame(name="port", at=(0.5, 0.1, 0.0)),),
    )  # fmt: skip
    rng = np.random.default_rng(0)
    n, m = 30, 2
    G = rng.normal(size=(n, 3, m, m))
    plate = ModalBody(
        name="plate", points=rng.normal(size=(n, 3)), masses=rng.uniform(0.1, 1.0, size=n), stiffness=(100.0, 300.0),
        shapes=rng.normal(size=(n, 3, m)), slopes=rng.normal(size=(n, 3, m)), second=G + G.swapaxes(2, 3),
        second_slopes=G + G.swapaxes(2, 3), rotary=rng.uniform(0.1, 0.2, size=(n, 3)), damping=(0.01, 0.02),
    )  # fmt: skip
    user = beam(name="user", shapes=(lambda x: x**2, lambda x: x**3), modes=2, damping=0.01)
    parts = (Part(boom), Part(plate, on="boom.tip", joint=Free(name="base")), Part(user, on="boom.port"))
    return System(name="everything", parts=parts, environment=UniformGravity())


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_flexible_bodies_survive_files(suffix: str, tmp_path) -> None:
    system = everything()
    again = load_system(save_system(system, tmp_path / f"system{suffix}"))
    assert again == system
    assert again.content_hash() == system.content_hash()
    assert again.structure_hash() == system.structure_hash()
    np.testing.assert_array_equal(again.parameters().values, system.parameters().values)


def test_names_and_units_of_modal_coordinates() -> None:
    system = hung(beam(GJ=3.0, EA=90.0, rotary=(0.1, 0.0, 0.0), torsion=1, extension=1), Revolute(name="hinge"))
    eom = form_equations(system)
    assert eom.coordinates == ("hinge", "boom.eta1", "boom.eta2", "boom.eta3")
    assert eom.speeds == ("hinge_dot", "boom.eta1_dot", "boom.eta2_dot", "boom.eta3_dot")
    assert eom.labels.q.units == ("rad", "m", "rad", "m")
    assert eom.labels.v.units == ("rad/s", "m/s", "rad/s", "m/s")


def test_other_numbers_need_no_other_equations() -> None:
    """A mass or stiffness changed by 20 % is another p, never another structure."""
    first, second = hung(beam(modes=3)), hung(beam(modes=3, EI=60.0, mass=3.6))
    assert first.structure_hash() == second.structure_hash()
    assert first.structure_hash() != hung(beam(modes=2)).structure_hash()
