"""Equations of 360 random trees: Kane, the order-N sweep, Pinocchio, MuJoCo, the point cloud, energy and momentum.

Trees have 1 to 30 bodies, branches, up to three free bases, all joint kinds with random placements on both sides, joint
and body actuators and wheels. The set is the same in every run; `test_the_set_has_enough_variety` counts what is in it.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.tree_kernel import TreeKernel
from spacectl.model.actuators import ReactionWheel
from spacectl.model.environment import CircularOrbit
from tests.peers import mujoco_peer, pinocchio_peer, point_cloud_peer
from tests.peers.tree_properties import evaluate
from tests.strategies import KINDS, Case, cases, first_of, random_tree

TREES = 360
PEERS = {"Pinocchio": pinocchio_peer, "MuJoCo": mujoco_peer}

LEAST_DEFINITE = 1e-6  # smallest over largest eigenvalue of M: these trees have condition numbers below 1e6
PEER_TOLERANCE = 1e-10  # rounding, 1e-16 times that condition number; the worst tree reaches 1e-12
CLOUD_TOLERANCE = 1e-8  # differences in the reference, 1e-12 of each term, amplified by up to 1e4 in the solution
BALANCE_TOLERANCE = 1e-12  # rounding against the sum of the magnitudes of up to 200 terms that must cancel


def make_case(seed: int) -> Case:
    """Tree number `seed`: five of six in free space or uniform gravity, the sixth in orbit or central gravity."""
    rng = np.random.default_rng(seed)
    usual, rare = ("FreeSpace", "UniformGravity")[seed % 2], ("CircularOrbit", "CentralGravity")[seed // 6 % 2]
    environment = rare if seed % 6 == 5 else usual
    bodies = 1 + round(29 * float(rng.random()) ** 4)
    bases = (1, 0, 1, 2, 3, 1, 2)[seed % 7]
    return random_tree(rng, bodies=bodies, free_bases=bases, environment=environment, floating=is_floating(seed))


def is_floating(seed: int) -> bool:
    """Whether nothing pushes from outside, so that momentum is conserved."""
    return seed % 6 in (0, 4)


def check_tree(case: Case, *, floating: bool) -> None:
    """All properties of one tree."""
    eom = form_equations(case.system, formulation="kane")
    terms = evaluate(eom, case)
    kernel = TreeKernel(case.system, eom.parameters, eom.p)
    terms.check_recursion(kernel.v_dot(terms.q, terms.v, terms.u))
    forces = np.abs(terms.M) @ np.abs(terms.v_dot) + np.abs(terms.h)
    tau = kernel.tau(terms.q, terms.v, terms.v_dot)
    assert np.max(np.abs(tau - terms.M @ terms.v_dot - terms.h)) <= BALANCE_TOLERANCE * np.max(forces)
    assert terms.asymmetry() < 1e-14  # rounding of sums taken in another order
    assert terms.definiteness() > LEAST_DEFINITE
    assert terms.round_trip_error() < BALANCE_TOLERANCE
    assert terms.energy_rate_error() < BALANCE_TOLERANCE
    if floating:
        assert terms.momentum_rate_error() < BALANCE_TOLERANCE
    for name, peer in PEERS.items():
        if peer.why_not(case.system) is None:
            error = terms.acceleration_error(peer.accelerate(case.system, case.q, case.v, case.u))
            assert error < PEER_TOLERANCE, f"{name} differs by {error:.2e}"
    if isinstance(case.system.environment, CircularOrbit):
        error = terms.acceleration_error(point_cloud_peer.accelerate(case.system, case.q, case.v, case.u))
        assert error < CLOUD_TOLERANCE, f"the point cloud differs by {error:.2e}"


@pytest.mark.parametrize("seed", first_of(range(TREES), 72))
def test_tree_agrees_with_peers_and_conservation_laws(seed: int) -> None:
    check_tree(make_case(seed), floating=is_floating(seed))


@given(case=cases(max_bodies=8))
def test_small_tree_agrees_with_peers_and_conservation_laws(case: Case) -> None:
    check_tree(case, floating=False)


@given(case=cases(max_bodies=8, environment_kinds=("FreeSpace",), floating=True))
def test_small_floating_tree_conserves_momentum(case: Case) -> None:
    check_tree(case, floating=True)


def count_features(all_cases: list[Case]) -> Counter[str]:
    """How often each joint kind and each feature occurs."""
    counts: Counter[str] = Counter()
    for case in all_cases:
        parts = case.system.parts
        owners = [part.on.split(".")[0] for part in parts]
        free_bases = sum(part.on == "world" and type(part.joint).__name__ == "Free" for part in parts)
        counts.update(type(part.joint).__name__ for part in parts)
        counts["Free deeper in the tree"] += sum(type(part.joint).__name__ == "Free" for part in parts) - free_bases
        counts["trees"] += 1
        counts["trees with two or more free bases"] += free_bases >= 2
        counts["trees with branches"] += any(owners.count(part.name) >= 2 for part in parts)
        counts["trees of 20 or more bodies"] += len(parts) >= 20
        counts["wheels"] += sum(isinstance(actuator, ReactionWheel) for actuator in case.system.actuators)
        counts["body forces and torques"] += sum(hasattr(actuator, "direction") for actuator in case.system.actuators)
        counts[type(case.system.environment).__name__] += 1
        counts.update(f"compared with {name}" for name, peer in PEERS.items() if peer.why_not(case.system) is None)
    return counts


def test_the_set_has_enough_variety(record_property) -> None:
    all_cases = [make_case(seed) for seed in range(TREES)]
    counts = count_features(all_cases)
    sizes = [len(case.system.parts) for case in all_cases]
    listed = ", ".join(f"{name}: {number}" for name, number in sorted(counts.items()))
    record_property("summary", f"random trees of {min(sizes)} to {max(sizes)} bodies, {sum(sizes)} in all; {listed}")
    assert (min(sizes), max(sizes)) == (1, 30)
    assert min(counts[kind] for kind in KINDS) >= 100
    for feature in ("Free deeper in the tree", "trees with two or more free bases", "trees with branches"):
        assert counts[feature] >= 100
    for feature in ("trees of 20 or more bodies", "wheels", "CircularOrbit", "CentralGravity"):
        assert counts[feature] >= 25
    assert counts["body forces and torques"] >= 100
    assert counts["compared with MuJoCo"] >= 300, "install spacectl[crosscheck]"
    assert counts["compared with Pinocchio"] >= 300 or sys.platform == "win32", "install spacectl[crosscheck]"
