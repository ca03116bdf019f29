"""Solve a scaled programme with IPOPT, through CasADi's interface with our own values and derivatives."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.planners.collocation.transcription.nlp import Nlp

__all__ = ["NlpSolution", "solve_programme"]

_DENSE = ca.Sparsity.dense


class _Call(ca.Callback):  # type: ignore[misc]  # CasADi has no types that mypy can follow
    """A Python function on buffers, wrapped as a CasADi callback with named arguments and results."""

    def __init__(self, name: str, arguments: dict[str, Any], results: dict[str, Any], function: Callable[..., None]):
        ca.Callback.__init__(self)
        self._arguments, self._results, self._function = arguments, results, function
        self.error: Exception | None = None
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._arguments)

    def get_n_out(self) -> int:
        return len(self._results)

    def get_name_in(self, i: int) -> str:
        return list(self._arguments)[i]

    def get_name_out(self, i: int) -> str:
        return list(self._results)[i]

    def get_sparsity_in(self, i: int) -> Any:
        return list(self._arguments.values())[i]

    def get_sparsity_out(self, i: int) -> Any:
        return list(self._results.values())[i]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Any, res: Any) -> int:
        given = [None if item is None else np.frombuffer(item, dtype=float) for item in arg]
        wanted = [None if item is None else np.frombuffer(item, dtype=float) for item in res]
        self._function(given, wanted)
        return 0


@dataclass(frozen=True, eq=False)
class NlpSolution:
    """Solution of the unscaled programme: unknowns, multipliers of rows and bounds, and IPOPT's return status."""

    x: np.ndarray
    row_multipliers: np.ndarray
    bound_multipliers: np.ndarray
    cost: float
    status: str
    iterations: int
    is_success: bool
    printed: str = ""


def solve_programme(nlp: Nlp, x: np.ndarray, options: Mapping[str, Any]) -> NlpSolution:
    """Solve from the unknowns x; `options` are IPOPT options, which override the defaults."""
    calls = _calls(nlp)
    settings = {
        "grad_f": calls[1], "jac_g": calls[2], "hess_lag": calls[3], "no_nlp_grad": True, "print_time": False,
        "calc_lam_p": False, "error_on_fail": False, "show_eval_warnings": False,
    }  # fmt: skip
    settings |= {f"ipopt.{key}": value for key, value in ({**_IPOPT, **options}).items()}
    low, high = nlp.low / nlp.scale, nlp.high / nlp.scale
    start = np.clip(x / nlp.scale, low, high)
    rows = (nlp.row_low * nlp.row_scale, nlp.row_high * nlp.row_scale)
    # CasADi warns on standard error, for example of more equations than unknowns in symmetric plans; the return status decides
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        solver = ca.nlpsol("collocation", "ipopt", calls[0], settings)
        found = solver(x0=start, lbx=low, ubx=high, lbg=rows[0], ubg=rows[1])
    stats = solver.stats()
    vector = {key: np.asarray(found[key]).reshape(-1) for key in ("x", "lam_g", "lam_x")}
    return NlpSolution(
        x=np.clip(vector["x"] * nlp.scale, nlp.low, nlp.high),
        row_multipliers=vector["lam_g"] * nlp.row_scale / nlp.cost_scale,
        bound_multipliers=vector["lam_x"] / nlp.scale / nlp.cost_scale,
        cost=float(found["f"]) / nlp.cost_scale,
        status=str(stats["return_status"]),
        iterations=int(stats["iter_count"]),
        is_success=bool(stats["success"]) or stats["return_status"] == "Solved_To_Acceptable_Level",
        printed=printed.getvalue().strip(),
    )


_IPOPT = {
    "print_level": 0, "sb": "yes", "tol": 1e-8, "max_iter": 500, "mu_strategy": "adaptive", "bound_relax_factor": 0.0,
    "nlp_scaling_method": "none", "mumps_mem_percent": 200,
    # feasible, complementary and stationary in cost: sufficient for long bang-bang plans
    "acceptable_iter": 12, "acceptable_tol": 1e-2, "acceptable_constr_viol_tol": 1e-8, "acceptable_compl_inf_tol": 1e-5,
    "acceptable_obj_change_tol": 1e-5,
}  # fmt: skip


def _calls(nlp: Nlp) -> list[_Call]:
    """Return the callbacks: cost and rows, gradient, Jacobian, Hessian."""
    one, x, g, none = _DENSE(1, 1), _DENSE(nlp.n, 1), _DENSE(nlp.m, 1), _DENSE(0, 1)

    def fill(out: Any, value: Any) -> None:
        if out is not None:
            out[:] = value() if callable(value) else value

    def values(given: Any, wanted: Any) -> None:
        fill(wanted[0], lambda: nlp.objective(given[0]))
        fill(wanted[1], lambda: nlp.rows(given[0]))

    def gradient(given: Any, wanted: Any) -> None:
        fill(wanted[0], lambda: nlp.objective(given[0]))
        fill(wanted[1], lambda: nlp.gradient(given[0]))

    def jacobian(given: Any, wanted: Any) -> None:
        fill(wanted[0], lambda: nlp.rows(given[0]))
        fill(wanted[1], lambda: nlp.jacobian(given[0]))

    def hessian(given: Any, wanted: Any) -> None:
        sigma = 0.0 if given[2] is None else float(given[2][0])
        multipliers = np.zeros(nlp.m) if given[3] is None else given[3]
        fill(wanted[0], lambda: nlp.hessian(given[0], sigma, multipliers))

    point = {"x": x, "p": none}
    dual = {"x": x, "p": none, "lam_f": one, "lam_g": g}
    return [
        _Call("nlp", point, {"f": one, "g": g}, values),
        _Call("nlp_grad_f", point, {"f": one, "grad_f_x": x}, gradient),
        _Call("nlp_jac_g", point, {"g": g, "jac_g_x": nlp.jacobian_sum.sparsity}, jacobian),
        _Call("nlp_hess_l", dual, {"triu_hess_gamma_x_x": nlp.hessian_sum.sparsity}, hessian),
    ]
