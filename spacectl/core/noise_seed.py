"""Seeds of the noise in a law: keys of a signal from a seed, and the law with another seed.

`add_noise` stores the keys among the law's parameters, named ``noise.<signal>.<kind>.key1`` (``noise2`` if there is
noise already), so a new seed needs no compilation and works below other wrappers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError

__all__ = ["KEY_BITS", "check_seed", "is_noisy", "noise_keys", "reseed"]

KEY_BITS = 26  #: of a key, so that products of two are exact in doubles

_KEY = re.compile(r"(noise\d*)\.(.+)\.(inputs|measurements|states)\.(key[12])")


def noise_keys(seed: int, prefix: str, on: str, signal: str) -> dict[str, float]:
    """Return the two keys of a signal, by their names among the parameters of the law."""
    digest = hashlib.sha256(f"{int(seed)}/{prefix}.{on}.{signal}".encode()).digest()
    mask = 2**KEY_BITS - 1
    words = [int.from_bytes(digest[k : k + 8], "little") & mask for k in (0, 8)]
    return {f"{on}.key{k + 1}": float(word) for k, word in enumerate(words)}


def check_seed(seed: Any, what: str) -> int:
    """Return `seed` as a whole number."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise ModelError(f"{what}: seed is {seed!r}, expected a whole number")
    if not -(2**63) <= seed < 2**63:
        raise ModelError(f"{what}: seed is {seed}, expected a whole number of 64 bits")
    return int(seed)


def is_noisy(law: ControlLaw) -> bool:
    """Return whether some wrapper of the law adds noise."""
    return any(_KEY.fullmatch(name) for name in law.parameters.names)


def reseed(law: ControlLaw, seed: int) -> ControlLaw:
    """Return the law with noise from another seed, as if every `add_noise` had been called with it.

    Parameters
    ----------
    law : ControlLaw
        A law with noise; its compiled function is reused.
    seed : int
        The new seed.

    Returns
    -------
    ControlLaw

    Raises
    ------
    ModelError
        If the law has no noise, or the seed is not a whole number.
    """
    number = check_seed(seed, f"law '{law.name}'")
    if not is_noisy(law):
        raise ModelError(f"law '{law.name}': it has no noise to seed; wrap it by add_noise")
    p = np.array(law.p, dtype=float)
    for i, name in enumerate(law.parameters.names):
        if found := _KEY.fullmatch(name):
            prefix, signal, on, key = found.groups()
            p[i] = noise_keys(number, prefix, on, signal)[f"{on}.{key}"]
    kept = {item.name: getattr(law, item.name) for item in fields(ControlLaw)}
    return ControlLaw(**{**kept, "p": p, "notes": _renamed(law.notes, number)})


def _renamed(notes: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the notes with the new seed."""
    if "wrappers" not in notes:
        return dict(notes)
    entries = [{**item, "seed": seed} if "seed" in item else item for item in notes["wrappers"]]
    return {**notes, "wrappers": entries}
