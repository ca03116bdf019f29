"""Why a general leg of three universal joints has no closed form: the group of its eliminant is not solvable."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from tests.oracles.flexible.modular import factor_degrees
from tests.oracles.mechanics.leg_eliminant import eliminant

X, Y = (1, 0, 0), (0, 1, 0)
GENERAL = {
    "o": (F(1, 10), F(-1, 5), 1), "w": (F(1, 5), F(1, 10), F(4, 5)), "l": (F(3, 10), F(1, 5), F(6, 5)),
    "s1": X, "s2": Y, "t1": X, "t2": Y, "n": Y, "m": (F(24, 41), F(4, 41), F(-33, 41)),
    "C": ((F(1, 3), F(-2, 15), F(14, 15)), (F(2, 3), F(11, 15), F(-2, 15)), (F(-2, 3), F(2, 3), F(1, 3))),
}  # fmt: skip
STRAIGHT = {
    **GENERAL, "o": (0, 0, 1), "w": (0, 0, F(4, 5)), "t1": Y, "t2": X, "n": X, "C": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}  # fmt: skip


@pytest.mark.slow
def test_the_general_leg_has_sixteen_solutions_and_no_formula() -> None:
    """Irreducible modulo one prime: the group is transitive. Modulo another the factors have the degrees 5 and 11 (Dedekind): a
    fifth power is a cycle of 11, and a transitive group of degree 16 with a cycle of prime length between 8 and 14 holds all even
    permutations (Jordan). Such a group is not solvable, and no formula of roots exists (Galois).
    """
    for p, degrees in ((10091, [16]), (10007, [5, 11])):
        polynomial, poles = eliminant(GENERAL, p)
        assert len(polynomial) - 1 == poles == 16
        assert sorted(factor_degrees(polynomial, p)) == degrees


@pytest.mark.slow
def test_the_straight_leg_comes_apart_into_a_quartic_and_square_roots() -> None:
    """Cycles have lengths without a prime factor above three, as in a group built of four things and of pairs."""
    for p in (10007, 10009, 10039):
        polynomial, _ = eliminant(STRAIGHT, p)
        assert len(polynomial) - 1 == 16
        assert all(degree in (1, 2, 3, 4, 6, 8, 12) for degree in factor_degrees(polynomial, p))
