"""Loops that cannot close or are singular, and what embedding refuses: errors that name the loop and its joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacectl import (
    Constraint,
    JointTorque,
    ModelError,
    Part,
    PointOnPlane,
    Revolute,
    ShapeError,
    SolverError,
    System,
    form_equations,
    library,
    make_consistent,
    simulate,
)
from spacectl.dynamics.embedding.aggregates import find_aggregates
from spacectl.dynamics.embedding.solve import partition
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.model.library.rods import rod
from spacectl.spatial.rotation import rotation_about


def parallelogram() -> System:
    """Two equal cranks and a coupler as long as the ground: singular where all lie on one line. Open by 90 degrees at rest."""
    up = rotation_about("z", 0.5 * np.pi)
    parts = (
        Part(rod("crank", 0.5, 1.0), rotation=up, joint=Revolute(name="crank_pin", axis="z")),
        Part(rod("coupler", 1.0, 1.0), on="crank.end", rotation=up.T, joint=Revolute(name="coupler_pin", axis="z")),
        Part(rod("rocker", 0.5, 1.0), at=(1, 0, 0), rotation=up, joint=Revolute(name="rocker_pin", axis="z")),
    )
    pins = tuple(PointOnPlane(name=f"pin_{axis}", b="coupler.end", a="rocker.end", normal=axis) for axis in "xy")
    return System(name="parallelogram", parts=parts, actuators=(JointTorque(joint="crank_pin"),), constraints=pins)


def test_a_singular_closure_is_named() -> None:
    eom = form_equations(parallelogram(), formulation="embedded")
    folded = eom.state(crank_pin=-0.5 * np.pi, coupler_pin=0.5 * np.pi, rocker_pin=-0.5 * np.pi)
    assert np.max(np.abs(eom.residual(0.0, folded[:3], folded[3:]))) < 1e-15
    with pytest.raises(
        SolverError, match=r"loop 'pin_x', 'pin_y'.*'coupler_pin'.*singular.*1 of 2.*constrained least"
    ) as caught:
        eom.v_dot(0.0, folded[:3], folded[3:], [1.0])
    assert "parallelogram" in str(caught.value)
    assert np.all(np.isnan(eom.compiled().x_dot(0.0, folded, np.ones(1))))
    near = make_consistent(eom, eom.state(crank_pin=-1.5, coupler_pin=1.5, rocker_pin=-1.5), hold=("crank_pin",)).x
    assert np.all(np.isfinite(eom.x_dot(0.0, near, [1.0])))


def test_a_run_from_a_singular_closure_names_the_loop() -> None:
    eom = form_equations(parallelogram(), formulation="embedded")
    folded = eom.state(crank_pin=-0.5 * np.pi, coupler_pin=0.5 * np.pi, rocker_pin=-0.5 * np.pi)
    with pytest.raises(SolverError, match=r"not finite.*loop 'pin_x', 'pin_y' \(joints .*singular closure.*0\.0e\+00"):
        simulate(eom, x0=folded, u=[1.0], t_span=(0.0, 0.1))


def test_a_loop_that_cannot_close_is_named_with_the_closest_configuration() -> None:
    system = library.four_bar_chain(2)
    far = tuple(replace(c, at_a=(5.0, 0.0, 0.0)) if c.name.startswith("pin1") else c for c in system.constraints)
    eom = form_equations(replace(system, constraints=far), formulation="embedded")
    with pytest.raises(SolverError, match=r"loop 'pin1_x', 'pin1_y' \(joints 'crank_pin1'") as caught:
        make_consistent(eom, eom.state())
    assert "closest configuration found is crank_pin1 = " in str(caught.value) and "pin0" not in str(caught.value)
    # five metres beyond the rocker's end, with bars of 0.42, 0.47 and 0.55 m between pivots 0.45 m apart: stretched is best
    lengths, ground = (0.4243, 0.4669, 0.5545), 0.4528
    assert caught.value.partial.shape == (eom.n_x,)  # the whole state, with the other loop as it is
    left = float(str(caught.value).split("a residual of ")[1].split(" ")[0])
    assert 5.0 - sum(lengths) - ground < left < 5.0 + 0.6


def test_held_speeds_that_no_loop_allows_are_named() -> None:
    eom = form_equations(library.geared_chain(2), formulation="embedded")
    held = ("motor1_dot", "joint1_dot")
    with pytest.raises(SolverError, match=r"no speeds keep loop 'gear1' \(joints 'motor1', 'joint1'\)"):
        make_consistent(eom, eom.state(motor1_dot=1.0), hold=held)


def test_large_systems_name_the_loop_too() -> None:
    """Native code gives no values; the error then comes from the reference implementation."""
    chain = library.geared_chain(13)
    both = [Constraint(name=f"stop{k}", rule=lambda s, k=k: s["joint7"] - 0.5 * k * s.t**2) for k in (1, 2)]
    eom = form_equations(replace(chain, constraints=(*chain.constraints, *both)), formulation="embedded")
    with pytest.raises(SolverError, match=r"'gear7', 'stop1', 'stop2'.*'joint7'.*contradict"):
        eom.x_dot(0.0, eom.state(), np.zeros(13))


def test_what_embedding_refuses() -> None:
    arm = library.geared_chain(2)
    with pytest.raises(ModelError, match="rocker_motor.*not active"):
        form_equations(library.redundant_four_bar(), formulation="embedded", active=())
    with pytest.raises(ModelError, match="switch"):
        form_equations(arm, formulation="embedded", switchable=True)
    assert form_equations(library.geared_chain(13), switchable=True).formulation == "kane"
    loose = Constraint(name="clock", rule=lambda s: s.t - 1.0)
    with pytest.raises(ModelError, match="clock"):
        form_equations(replace(arm, constraints=(*arm.constraints, loose)), formulation="embedded")


def test_arguments_of_another_size_are_refused() -> None:
    for n in (2, 13):  # in numpy, and in native code, which would read beyond them
        eom = form_equations(library.geared_chain(n), formulation="embedded")
        x = eom.state()
        with pytest.raises(ShapeError, match="'u' has 0 entries"):
            eom.x_dot(0.0, x)
        with pytest.raises(ShapeError, match="'q' has"):
            eom.v_dot(0.0, x[:1], x[eom.n_q :], np.zeros(n))
        with pytest.raises(ShapeError, match="'v' has"):
            eom.multipliers(0.0, x[: eom.n_q], x[:1], np.zeros(n))


def aggregates(system: System) -> list[tuple[tuple[str, ...], str]]:
    """Return the joints of each aggregate, and the joint of its parent link."""
    tree, parameters = Tree.of(system), system.parameters()
    links = form_links(tree, numeric_numbers(parameters, np.array(parameters.values)), np.zeros(1))
    names = [link.node.part.joint_name for link in links.items]
    found = find_aggregates(system, tree, links, system.constraints)
    return [(tuple(names[i] for i in item.links), "" if item.base[0] < 0 else names[item.base[0]]) for item in found]


def test_aggregates_include_the_joints_between() -> None:
    """Joints between the ends of a rule belong to its aggregate, and rules that share a joint make one."""
    parts, on = [], "world"
    for k in range(8):
        parts.append(Part(rod(f"b{k}", 0.3, 1.0), on=on, joint=Revolute(name=f"j{k}", axis="z")))
        on = f"b{k}.end"

    def tied(*pairs: tuple[int, int]) -> list[tuple[tuple[str, ...], str]]:
        rules = tuple(
            Constraint(name=f"r{a}{b}", rule=lambda s, a=a, b=b: s[f"j{a}"] - 2.0 * s[f"j{b}"]) for a, b in pairs
        )
        return [
            item for item in aggregates(System(name="chain", parts=tuple(parts), constraints=rules)) if len(item[0]) > 1
        ]

    assert tied((2, 4)) == [(("j2", "j3", "j4"), "j1")]
    assert tied((1, 2), (4, 5)) == [(("j1", "j2"), "j0"), (("j4", "j5"), "j3")]
    assert tied((1, 3), (3, 5)) == [(("j1", "j2", "j3", "j4", "j5"), "j0")]
    assert tied((1, 5), (2, 3)) == [(("j1", "j2", "j3", "j4", "j5"), "j0")]
    wrist = [item for item in aggregates(library.differential_wrist()) if len(item[0]) > 1]
    assert wrist == [(("motor1", "motor2", "pitch", "roll"), "shoulder")]


def test_a_flexible_base_joins_its_loop_if_several_of_its_frames_carry_it() -> None:
    """Two frames of a beam move against each other: its modes belong to the aggregate; one frame alone is a base."""
    beams = [item for item in aggregates(library.four_bar_chain(2, flexible=True)) if len(item[0]) > 1]
    assert beams == [
        (("crank_pin0", "coupler_pin0", "coupler_pin0", "rocker_pin0"), ""),
        (("crank_pin1", "coupler_pin1", "coupler_pin1", "rocker_pin1"), "coupler_pin0"),
    ]


def test_partition_selects_large_pivots_and_reports_redundant_rows() -> None:
    J = np.array([[1e-6, 1.0, 0.0], [2e-6, 2.0, 0.0], [0.0, 0.0, 3.0]])
    split = partition(J, np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert (
        set(split.dependent) == {1, 2} and split.independent == (0,) and split.rank == 2 and len(split.redundant) == 1
    )
    np.testing.assert_allclose(J @ split.N, 0.0, atol=1e-15)
    np.testing.assert_allclose(J @ split.d, [1.0, 2.0, 3.0], rtol=1e-14)
