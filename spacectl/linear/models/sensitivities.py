"""Derivatives of a linear model with respect to run-time parameters: parameters, or fields of the description."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import Array
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.tangent import tangent_map

__all__ = ["find_sensitivities"]


def find_sensitivities(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, names: tuple[str, ...]
) -> dict[str, tuple[Array, str]]:
    """Return derivatives of A (n, n, size) by named parameters, and the method by which the parameters p follow from each name.

    The derivative of A along a change of p is exact, through CasADi's second derivatives.
    """
    if not names:
        return {}
    q, v, n = x[: eom.n_q], x[eom.n_q :], eom.n_v
    values = eom.parameters.of(p)
    blocks = (("q", slice(0, n), tangent_map(eom, q)), ("v", slice(n, 2 * n), np.eye(n)))
    rates = {letter: _jacobian_rate(eom, letter) for letter, _, _ in blocks}
    result: dict[str, tuple[Array, str]] = {}
    for name in names:
        directions, method = eom.parameters.derivative(name, p)
        stack = np.zeros((2 * n, 2 * n, directions.shape[1]))
        for k, direction in enumerate(directions.T):
            for letter, block, turn in blocks:
                stack[n:, block, k] = np.array(rates[letter](t, q, v, u, values, direction)) @ turn
        result[name] = Array(stack), method
    return result


def _jacobian_rate(eom: EquationsOfMotion, letter: str) -> ca.Function:
    """Return a function (t, q, v, u, p, dp) -> derivative of d v_dot / d letter along dp."""
    f = eom.functions["v_dot_implicit" if "v_dot_implicit" in eom.functions else "v_dot"]
    symbols = {name: ca.MX.sym(name, *f.size_in(i)) for i, name in enumerate(f.name_in())}
    jacobian = ca.jacobian(f(*symbols.values()), symbols[letter])
    direction = ca.MX.sym("dp", len(eom.parameters))
    rate = ca.reshape(ca.jtimes(ca.vec(jacobian), symbols["p"], direction), *jacobian.shape)
    return ca.Function("rate", [*symbols.values(), direction], [ca.densify(rate)])
