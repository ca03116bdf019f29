"""Bind a law (None, `ControlLaw`, `CallableLaw` or any function ``u = f(t, x)``) for the driver.

Names are checked here, so that a law never acts on the wrong states, inputs or measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi, bind_python
from spacectl.codegen.bound_function import BoundFunction
from spacectl.core.control_law import CallableLaw, ControlLaw
from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["BoundLaw", "bind_law", "feedback_function"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundLaw:
    """Hold a law that is bound for the driver; fields as in `LoopData`."""

    name: str = ""
    identity: str = ""
    undefined: str = ""
    law: BoundFunction | None = None
    kinks: BoundFunction | None = None
    sensors: BoundFunction | None = None
    u_map: tuple[int, ...] = ()
    y_map: tuple[int, ...] = ()
    memory: Labels = field(default_factory=lambda: Labels(kind="memory"))
    z0: Any = ()
    period: float = 0.0
    reference: Trajectory | None = None
    reference_rates: bool = False

    @property
    def stops(self) -> np.ndarray:
        """Times at which the reference of a continuous law has a jump or a kink."""
        if self.period > 0.0 or self.reference is None or self.reference.interpolation == "cubic":
            return np.zeros(0)
        return np.asarray(self.reference.t)


def bind_law(eom: EquationsOfMotion, law: Any, p: np.ndarray, tier: Tier) -> BoundLaw:
    """Check `law` against the equations and bind it.

    Raises
    ------
    ModelError
        If states, inputs or measurements do not fit, with the first name that differs.
    """
    if law is None:
        return BoundLaw()
    if isinstance(law, ControlLaw):
        return _bind_control_law(eom, law, p, tier)
    if isinstance(law, CallableLaw):
        return _bind_callable(eom, law)
    if callable(law):
        return _bind_callable(eom, CallableLaw(function=law, name=getattr(law, "__name__", type(law).__name__)))
    raise ModelError(
        f"law: got {type(law).__name__}, expected None, a ControlLaw, a CallableLaw or a function u = f(t, x)"
    )


def _bind_control_law(eom: EquationsOfMotion, law: ControlLaw, p: np.ndarray, tier: Tier) -> BoundLaw:
    what = f"law '{law.name}'"
    _check_states(law.states.names, eom.states, what)
    for name in law.inputs.names:
        if name not in eom.inputs:
            raise ModelError(f"{what}: {unknown_name('input', name, eom.inputs)}")
    for name in law.measurements.names:
        if name not in eom.labels.y:
            raise ModelError(f"{what}: {unknown_name('measurement', name, eom.labels.y)}; add a sensor to the system")
    try:
        bound = bind_casadi(law.function, tier, p=law.p)
        kinks = bind_casadi(law.kinks, tier, p=law.p) if law.kinks is not None and not law.is_sampled else None
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from error
    sensors = bind_casadi(feedback_function(eom, law), tier, p=p) if len(law.measurements) else None
    return BoundLaw(
        name=law.name,
        identity=law.content_hash,
        undefined=law.undefined,
        law=bound,
        kinks=kinks,
        sensors=sensors,
        u_map=eom.labels.u.indices(law.inputs.names),
        y_map=tuple(range(len(law.measurements))),
        memory=law.memory,
        z0=np.asarray(law.z0),
        period=law.period,
        reference=law.reference,
        reference_rates=law.reference_rates,
    )


def _check_states(given: tuple[str, ...], wanted: tuple[str, ...], what: str) -> None:
    if given == wanted:
        return
    k = next((i for i, (a, b) in enumerate(zip(given, wanted, strict=False)) if a != b), min(len(given), len(wanted)))
    here = f"'{given[k]}'" if k < len(given) else "nothing"
    there = f"'{wanted[k]}'" if k < len(wanted) else "nothing"
    raise ModelError(
        f"{what} has gains for the wrong states: its state {k} is {here}, the equations have {there}; it was designed "
        f"for {len(given)} states, the equations have {len(wanted)}. Design it on these equations"
    )


def feedback_function(eom: EquationsOfMotion, law: ControlLaw) -> ca.Function:
    """Return the measurements of the law as a function ``(t, x, p) -> y``, in the order of the law.

    Outputs that the law uses may not depend on the inputs, as accelerations do.
    """
    return _feedback(eom, law.measurements.names, law.name)


@lru_cache(maxsize=64)
def _feedback(eom: EquationsOfMotion, measured: tuple[str, ...], law: str) -> ca.Function:
    """Form the function once for equal arguments, so that later runs reuse its compiled code."""
    rows = list(eom.labels.y.indices(measured))
    t, x, p = ca.MX.sym("t"), ca.MX.sym("x", eom.n_x), ca.MX.sym("p", len(eom.parameters))
    try:
        y = eom.functions["sensors"](t, x, p)[rows]
    except ModelError:  # some output is an acceleration
        outputs = eom.functions["outputs"]
        dependent = set(outputs.jac_sparsity(0, 2).row())
        for row, name in zip(rows, measured, strict=True):
            if row in dependent:
                what = f"law '{law}': measurement '{name}' depends on the inputs"
                raise ModelError(
                    f"{what} and cannot be fed back without delay; use a sampled estimate instead"
                ) from None
        y = outputs(t, x, ca.MX.zeros(eom.n_u), p)[rows]
    return ca.Function("feedback", [t, x, p], [ca.densify(y)], ["t", "x", "p"], ["y"])


def _bind_callable(eom: EquationsOfMotion, law: CallableLaw) -> BoundLaw:
    n_u = eom.n_u

    def rule(arguments: list[Any], results: list[Any]) -> None:
        u = np.asarray(law.function(float(arguments[0][0]), arguments[1].copy()), dtype=float)
        if u.size != n_u:
            raise ShapeError(
                f"law '{law.name}': returned shape {u.shape}, expected ({n_u},) for {', '.join(eom.inputs)}"
            )
        results[0][:] = u.reshape(-1)

    bound = bind_python(rule, (1, eom.n_x, 0, 0, 0, 0), (n_u, 0, 0))
    return BoundLaw(name=law.name, law=bound, u_map=tuple(range(n_u)), period=float(law.period))
