"""Reproducible noise on signals of a sampled law, from a counter and a key instead of a hidden state.

Sample k of a signal is a hash of (seed, signal, k), computed in doubles without any rounding, so that the same
seed gives the same noise in compiled code, in CasADi's virtual machine and in Python (normal noise up to the last digit
of the machine's log and cos).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import casadi as ca
import numpy as np

from spacectl.controllers.wrappers.base import Channel, On, free_prefix, numbers_by_signal, require_law, wrap_signals
from spacectl.controllers.wrappers.limits import require_sampled
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.noise_seed import KEY_BITS, check_seed, noise_keys, reseed

__all__ = ["add_noise", "mix_words", "reseed"]

BITS = KEY_BITS  # of a word: products of two words have 52 bits and are exact in doubles
WORD = float(2**BITS)
HALF = float(2 ** (BITS // 2))
WEYL = (41_475_557.0, 25_633_303.0)  # odd, no small multiples of each other; added to the keys round by round
ROUNDS = 10  # twice what passes tests of half a million draws: five rounds do, four do not

Distribution = Literal["normal", "uniform"]


def add_noise(
    law: ControlLaw, deviation: Any, *, seed: int, distribution: Distribution = "normal", on: On = "measurements"
) -> ControlLaw:
    """Add white noise to signals of a sampled law: ``s_k + deviation n_k`` with n_k of mean 0 and variance 1.

    Samples are independent, so the noise has the spectral density ``deviation^2 period`` (two-sided, per Hz) up to
    half the sampling rate. A signal has the same noise whichever other signals are noisy; wrapping twice gives two
    independent ones. Normal noise comes by Box and Muller from two words and reaches 6.1 deviations.

    Parameters
    ----------
    law : ControlLaw
        A sampled law: noise of a continuous one would have no finite variance.
    deviation : float, sequence or mapping of names to float
        Standard deviation in units of the signal: one for all, one each, or by name (the others stay untouched).
    seed : int
        Seed of the noise; equal seeds give equal noise. `reseed` gives the same law with another one; `simulate_many`
        does so for each run of a batch.
    distribution : {"normal", "uniform"}
        Uniform noise lies within ``sqrt(3)`` deviations.
    on : {"measurements", "states", "inputs"}
        Which signals: those that the law reads, or its commands.

    Returns
    -------
    ControlLaw

    References
    ----------
    Numbers from a counter: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Middle bits of
    squares with a Weyl sequence: Widynski, arXiv:1704.00358; here they are the round function of a Feistel network.

    Examples
    --------
    >>> from spacectl import design_pd, form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0, period=0.1)
    >>> noisy = add_noise(law, {"hinge": 0.01}, seed=7, on="states")
    >>> bool(noisy(0.0, [0.1, 0.0]) == add_noise(law, {"hinge": 0.01}, seed=7, on="states")(0.0, [0.1, 0.0]))
    True
    """
    require_law(law, "add_noise")
    require_sampled(law, "add_noise", "white noise in continuous time has no finite variance")
    seed = check_seed(seed, f"noise of law '{law.name}'")
    if distribution not in ("normal", "uniform"):
        raise ModelError(f"noise of law '{law.name}': distribution is {distribution!r}, expected 'normal' or 'uniform'")
    deviations = numbers_by_signal(law, deviation, on=on, what="noise: deviation", positive=False)
    prefix = free_prefix(law, "noise")

    def rule(s: Any, z: Mapping[str, Any], p: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        high = ca.floor(z["count"] * (1.0 / WORD))
        words = mix_words(z["count"] - high * WORD, high, (p[f"{on}.key1"], p[f"{on}.key2"]))
        draw = _normal(*words) if distribution == "normal" else _uniform(*words)
        return s + p["deviation"] * draw, {"count": z["count"] + 1.0}

    channels = {
        name: Channel(
            rule=rule, memory={"count": 0.0}, numbers={"deviation": value, **noise_keys(seed, prefix, on, name)}
        )
        for name, value in deviations.items()
    }
    entries = {"deviation": deviations, "seed": seed, "distribution": distribution}
    return wrap_signals(law, channels, on=on, prefix=prefix, title="with noise", notes=entries)


def mix_words(low: Any, high: Any, keys: tuple[Any, Any]) -> tuple[Any, Any]:
    """Mix two words of 26 bits, as doubles or symbols, into two pseudo-random ones; one to one for given keys.

    A round of the Feistel network takes ``(a, b)`` to ``(b, a + m)`` with m the middle 26 bits of ``(b + key)^2``:
    squares, because sums and products with constants alone are nearly linear in the counter. Every intermediate
    value is a whole number below 2^53, so nothing is rounded.
    """
    a, b = low, high
    schedule = list(keys)
    for k in range(ROUNDS):
        x = _wrap(b + schedule[k % 2])
        a, b = b, _wrap(a + _wrap(ca.floor(x * x * (1.0 / HALF))))
        schedule[k % 2] = _wrap(schedule[k % 2] + WEYL[k % 2])
    return a, b


def _wrap(value: Any) -> Any:
    """Return the remainder of a whole number by 2^26."""
    return value - ca.floor(value * (1.0 / WORD)) * WORD


def _uniform(a: Any, b: Any) -> Any:
    """Return uniform noise within +-sqrt(3), from 52 bits."""
    return np.sqrt(12.0) * ((b + (a + 0.5) * (1.0 / WORD)) * (1.0 / WORD) - 0.5)


def _normal(a: Any, b: Any) -> Any:
    """Return normal noise by Box and Muller: the radius from one word, the angle from the other."""
    return ca.sqrt(-2.0 * ca.log((b + 0.5) * (1.0 / WORD))) * ca.cos((2.0 * np.pi / WORD) * (a + 0.5))
