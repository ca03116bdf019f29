"""Chains of local loops: accelerations by constraint embedding and from the augmented system, and the time of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spacectl import EquationsOfMotion, System, form_equations, library, make_consistent

__all__ = ["CHAINS", "Measured", "exponent", "measure"]

#: Chains by name, and the largest number of loops for which the augmented system is formed
CHAINS: dict[str, tuple[Callable[[int], System], int]] = {
    "geared chain": (library.geared_chain, 200),
    "four-bar chain": (library.four_bar_chain, 200),
    "flexible four-bar chain": (partial(library.four_bar_chain, flexible=True), 5),
}
ROUNDS = 3  #: over all lengths, so that a processor that slows down for a while slows no single length


@dataclass(frozen=True)
class Measured:
    """Measurements of one chain by number of loops: times of an evaluation and of the augmented solution, difference.

    Times are in seconds; the time of the augmented solution is NaN where the system was not formed.
    """

    loops: np.ndarray
    speeds: np.ndarray
    embedded: np.ndarray
    augmented: np.ndarray
    difference: np.ndarray


def measure(name: str, counts: tuple[int, ...], repeats: int, progress: Callable[[float], None]) -> Measured:
    """Compute accelerations of a random state that closes the loops, for each number of loops."""
    make, largest = CHAINS[name]
    states, rows = [state(make(n)) for n in counts], []
    rounds = [[timed_call(*item, repeats) for item in states] for _ in range(ROUNDS)]
    for k, (n, (eom, x, u)) in enumerate(zip(counts, states, strict=True)):
        progress(k / len(counts))
        v_dot, seconds = rounds[0][k][0], min(item[k][1] for item in rounds)
        dense, difference = np.nan, np.nan
        if n <= largest:
            expected, dense = augmented(eom, x, u, repeats)
            difference = float(np.max(np.abs(v_dot - expected)) / np.max(np.abs(expected)))
        rows.append((n, eom.n_v, seconds, dense, difference))
    return Measured(*(np.array(column) for column in zip(*rows, strict=True)))


def state(system: System) -> tuple[EquationsOfMotion, np.ndarray, np.ndarray]:
    """Return the equations with embedded loops, a random state that closes the loops, and inputs."""
    eom, rng = form_equations(system, formulation="embedded"), np.random.default_rng(1)
    start = eom.state(eom.state() + 0.05 * rng.standard_normal(eom.n_x))
    return eom, np.asarray(make_consistent(eom, start).x), rng.standard_normal(eom.n_u)


def timed_call(eom: EquationsOfMotion, x: np.ndarray, u: np.ndarray, repeats: int) -> tuple[np.ndarray, float]:
    """Return v_dot from native code, and the seconds of one evaluation: the shortest of several runs."""
    native = eom.compiled()
    native.x[:], native.u[:] = x, u
    calls = max(1, 4000 // eom.n_v)  # some milliseconds

    def many() -> None:
        for _ in range(calls):
            native.run()

    seconds = best(many, repeats) / calls
    return native.rate[eom.n_q :].copy(), seconds


def augmented(eom: EquationsOfMotion, x: np.ndarray, u: np.ndarray, repeats: int) -> tuple[np.ndarray, float]:
    """Return v_dot from ``[M, -J'; J, 0] [v_dot; lam] = [B u - h; gamma]``, and the seconds of one solution alone.

    M, h and B are those of the open tree, which share nothing with the aggregates. The condition number of a long chain's M
    reaches 1e8, so that the solution is refined twice, with residuals from inverse dynamics.
    """
    q, v = x[: eom.n_q], x[eom.n_q :]
    M, h, B = eom.mass_matrix(0.0, q), eom.bias(0.0, q, v), eom.input_map(0.0, q)
    _, _, J, _, gamma = eom.call("constraints", 0.0, q, v)
    m = len(gamma)
    K = np.block([[M, -J.T], [J, np.zeros((m, m))]])
    right = np.concatenate([B @ u - h, gamma.reshape(-1)])
    found = np.linalg.solve(K, right)
    for _ in range(2):
        v_dot, lam = found[: eom.n_v], found[eom.n_v :]
        force = B @ u + J.T @ lam - inverse_dynamics(eom, q, v, v_dot, M, h)
        found = found + np.linalg.solve(K, np.concatenate([force, gamma.reshape(-1) - J @ v_dot]))
    return found[: eom.n_v], best(lambda: np.linalg.solve(K, right), repeats)


def inverse_dynamics(
    eom: EquationsOfMotion, q: np.ndarray, v: np.ndarray, v_dot: np.ndarray, M: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Return ``M v_dot + h``, by recursion where there is one."""
    if "inverse_dynamics" in eom.numeric:
        return eom.call("inverse_dynamics", 0.0, q, v, v_dot)[0].reshape(-1)
    return M @ v_dot + h


def best(work: Callable[[], Any], repeats: int) -> float:
    """Return the shortest processor time [s] of several runs: a disturbance can only prolong a run."""
    found = []
    for _ in range(repeats):
        begin = time.thread_time()
        work()
        found.append(time.thread_time() - begin)
    return min(found)


def exponent(loops: np.ndarray, seconds: np.ndarray) -> float:
    """Return the exponent of the time over the number of loops, by least squares of the logarithms."""
    kept = np.isfinite(seconds)
    return float(np.polyfit(np.log(loops[kept]), np.log(seconds[kept]), 1)[0])
