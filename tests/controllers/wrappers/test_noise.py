"""The noise: exact in doubles, reproducible, named by seed and signal, and with the statistics it claims."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy import stats

from spacectl import ModelError, add_noise, design_pd, form_equations, library, simulate
from spacectl.controllers.wrappers.noise import ROUNDS, WEYL, mix_words
from tests.controllers.carrier import carrier

N = 20_000
MASK = 2**26 - 1


def draws(law, n: int = N) -> np.ndarray:
    """The first n samples of a signal that is zero, all counts at once: shape (n, outputs)."""
    mapped = law.function.map(n)
    n_x, n_y = law.function.numel_in(1), law.function.numel_in(2)
    counts = np.tile(np.arange(n, dtype=float), (len(law.memory), 1))
    p = np.tile(np.asarray(law.p)[:, None], n)
    return np.asarray(
        mapped(np.zeros((1, n)), np.zeros((n_x, n)), np.zeros((n_y, n)), counts, np.zeros((0, n)), p)[0]
    ).T


def middle(b: int, key: int) -> int:
    return (((b + key) & MASK) ** 2 >> 13) & MASK


def mix_integers(a: int, b: int, keys: tuple[int, int]) -> tuple[int, int]:
    """The hash in whole numbers."""
    schedule = list(keys)
    for k in range(ROUNDS):
        a, b = b, (a + middle(b, schedule[k % 2])) & MASK
        schedule[k % 2] = (schedule[k % 2] + int(WEYL[k % 2])) & MASK
    return a, b


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    return draws(add_noise(carrier(0.1), 1.0, seed=1, on="inputs"))[:, 0]


def test_doubles_give_the_words_of_integers() -> None:
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**26, size=(4, 3000))
    words[:, :2] = [[0, MASK], [0, MASK], [0, MASK], [0, MASK]]
    symbols = ca.SX.sym("w", 4)
    mix = ca.Function("mix", [symbols], [ca.vertcat(*mix_words(symbols[0], symbols[1], (symbols[2], symbols[3])))])
    found = np.asarray(mix(words.astype(float))).T
    assert found.tolist() == [list(mix_integers(a, b, (c, d))) for a, b, c, d in words.T.tolist()]


def test_the_hash_is_one_to_one() -> None:
    """Every round can be undone, whatever the squares are."""
    keys = (12345, 54321)
    a, b = mix_integers(7, 1234567, keys)
    schedule = [(keys[k] + (ROUNDS // 2) * int(WEYL[k])) & MASK for k in (0, 1)]
    for k in reversed(range(ROUNDS)):
        schedule[k % 2] = (schedule[k % 2] - int(WEYL[k % 2])) & MASK
        a, b = (b - middle(a, schedule[k % 2])) & MASK, a
    assert (a, b) == (7, 1234567)


def test_one_bit_of_the_counter_changes_half_the_bits() -> None:
    rng = np.random.default_rng(8)
    flips = np.zeros(52)
    trials = 400
    for _ in range(trials):
        a, b, c, d = (int(v) for v in rng.integers(0, 2**26, size=4))
        bit = int(rng.integers(0, 26))
        one, other = mix_integers(a, b, (c, d)), mix_integers(a ^ (1 << bit), b, (c, d))
        for word in (0, 1):
            changed = one[word] ^ other[word]
            flips[26 * word : 26 * word + 26] += [(changed >> k) & 1 for k in range(26)]
    # a share of 1/2 with deviation 1/40 each; 52 of them within 4.5 deviations but for 4e-4
    assert np.max(np.abs(flips / trials - 0.5)) < 4.5 * 0.5 / np.sqrt(trials)


# Tests of randomness have a chance to fail by themselves. The draws are fixed by the seed, so they fail always or
# never; bounds are such that a true random sequence would pass all but once in some thousand seeds.


def test_draws_are_standard_normal(sample) -> None:
    assert abs(np.mean(sample)) < 4.0 / np.sqrt(N)
    assert abs(np.var(sample) - 1.0) < 4.0 * np.sqrt(2.0 / N)
    assert stats.kstest(sample, "norm").pvalue > 1e-3
    assert abs(stats.kurtosis(sample)) < 4.0 * np.sqrt(24.0 / N)
    assert 3.5 < np.max(np.abs(sample)) < 6.2


def test_draws_are_independent_of_those_before(sample) -> None:
    lags = [
        np.mean(sample[:-k] * sample[k:]) for k in (*range(1, 30), *(2**j for j in range(5, 14)))
    ]  # bits of the counter
    assert np.max(np.abs(lags)) < 4.0 / np.sqrt(N - 2**13)
    squares = sample**2 - 1.0
    lags = [np.mean(squares[:-k] * squares[k:]) / 2.0 for k in range(1, 30)]
    assert np.max(np.abs(lags)) < 4.0 / np.sqrt(N)
    pairs, *_ = np.histogram2d(
        *(stats.norm.cdf(item) for item in (sample[::2], sample[1::2])), bins=20, range=[[0, 1]] * 2
    )
    assert stats.chisquare(pairs.reshape(-1)).pvalue > 1e-3
    power = np.abs(np.fft.rfft(sample))[1:-1] ** 2 / N
    assert stats.kstest(power, "expon").pvalue > 1e-3  # white: a periodogram of independent exponentials


def test_uniform_draws() -> None:
    sample = draws(add_noise(carrier(0.1), 2.0, seed=9, distribution="uniform", on="inputs"))[:, 0]
    assert stats.kstest(sample, stats.uniform(-2.0 * np.sqrt(3.0), 4.0 * np.sqrt(3.0)).cdf).pvalue > 1e-3


@pytest.fixture(scope="module")
def eom():
    return form_equations(library.planar_arm())


def test_signals_seeds_and_wrappings_have_noise_of_their_own(eom) -> None:
    law = design_pd(eom, kp=2.0, kd=1.0, period=0.01)
    both = draws(add_noise(law, 1.0, seed=1, on="inputs"))
    other = draws(add_noise(law, 1.0, seed=2, on="inputs"))
    columns = np.column_stack([both, other])
    correlation = np.corrcoef(columns, rowvar=False) - np.eye(4)
    assert np.max(np.abs(correlation)) < 4.0 / np.sqrt(N)
    alone = draws(add_noise(law, {"joint2": 1.0}, seed=1, on="inputs"))
    np.testing.assert_array_equal(alone[:, 1], both[:, 1])  # whichever others are noisy
    twice = draws(add_noise(add_noise(law, 1.0, seed=1, on="inputs"), 1.0, seed=1, on="inputs"))
    assert abs(np.var(twice[:, 0]) - 2.0) < 4.0 * 2.0 * np.sqrt(2.0 / N)  # independent, so variances add


def test_runs_repeat_and_tiers_agree(eom) -> None:
    law = add_noise(design_pd(eom, kp=2.0, kd=1.0, period=0.01), {"joint1": 0.01}, seed=4, on="states")
    options = {"x0": {"joint1": 0.2}, "t_span": (0.0, 1.0), "grid": 101}
    one, same = simulate(eom, law, **options), simulate(eom, law, **options)
    assert one.dataset.identical(same.dataset)
    reference = simulate(eom, law, **options, driver="python", tier="vm")
    np.testing.assert_allclose(one.x, reference.x, atol=1e-12)  # the same draws; rounding of the plant only
    later = simulate(eom, law, **{**options, "t_span": (5.0, 6.0)})
    np.testing.assert_allclose(one.u, later.u, atol=1e-9)  # samples are counted, wherever time begins
    noise = (2.0 * one["joint1"] + 1.0 * one["joint1_dot"] + one.column("u", "joint1"))[:-1] / -2.0
    expected = draws(law, 100)[:, 0] / -2.0
    np.testing.assert_allclose(noise, expected, atol=1e-12)


def test_code_that_fuses_products_and_sums_draws_the_same(eom) -> None:
    """Beyond 500 operations compilers may fuse; whole numbers do not care."""
    law = add_noise(design_pd(eom, kp=2.0, kd=1.0, period=0.01), 0.01, seed=4, on="states")
    law = add_noise(law, 0.01, seed=4, on="inputs")
    assert law.function.n_instructions() > 500
    options = {"t_span": (0.0, 0.5), "grid": 51}
    native, reference = simulate(eom, law, **options), simulate(eom, law, **options, driver="python", tier="vm")
    np.testing.assert_allclose(
        native.u, reference.u, atol=1e-13
    )  # one wrong bit in a word would be 1e-9 of the deviation or more


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"deviation": 0.1, "seed": 1.5}, ("carrier", "seed", "whole number")),
        ({"deviation": 0.1, "seed": 1, "distribution": "cauchy"}, ("cauchy", "'normal'")),
        ({"deviation": -0.1, "seed": 1}, ("carrier", "'out'", "0 or a positive")),
        ({"deviation": 0.1, "seed": 1, "on": "measurements"}, ("carrier", "no measurements")),
    ],
)
def test_wrong_arguments_are_explained(options, words) -> None:
    with pytest.raises(ModelError) as caught:
        add_noise(carrier(0.1), **{"on": "inputs", **options})
    for word in words:
        assert word in str(caught.value)


def test_a_continuous_law_is_refused_with_the_cure() -> None:
    with pytest.raises(ModelError, match="carrier.*continuous.*period="):
        add_noise(carrier(), 0.1, seed=1, on="inputs")
