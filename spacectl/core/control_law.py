"""`ControlLaw`: data and one function, the common form of all controllers.

A law is ``(t, x, y, z, r, p) -> (u, z_dot, z_next)`` with named inputs u and memory z. It is continuous
(``period = 0``: z follows z_dot with the plant's state) or sampled (u is held, z becomes z_next at each sample).
`make_law` builds one from an expression; `CallableLaw` wraps any Python function ``u = f(t, x)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.core.labels import Labels
from spacectl.core.provenance import content_hash
from spacectl.core.switching import switching_function
from spacectl.core.trajectory import Trajectory

__all__ = ["LAW_INPUTS", "LAW_OUTPUTS", "CallableLaw", "ControlLaw", "make_law"]

LAW_INPUTS = ("t", "x", "y", "z", "r", "p")
LAW_OUTPUTS = ("u", "z_dot", "z_next")


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlLaw:
    """A controller: named data and one CasADi function.

    ``(u, z_dot, z_next) = function(t, x, y, z, r, p)``

    Parameters
    ----------
    name : str
        Shown in results.
    function : casadi.Function
        With the input and output names above, all dense.
    states, measurements, inputs, memory, parameters : Labels
        Names and units of x, y, u, z and p. `simulate` checks states, measurements and inputs against the
        equations, so that a law never acts on wrong states. A law may command a subset of the plant's inputs.
    z0, p : array
        Initial memory, and the law's own parameters (gains, or its copy of the plant's parameters).
    period : float
        Sampling period [s]; 0 means continuous.
    reference : Trajectory, optional
        The table r(t).
    reference_rates : bool
        Whether r contains the table's values followed by their rates.
    notes : mapping
        Description of its design, for the report.
    undefined : str
        Meaning of a NaN command, for the message of a run that it stops; empty if the law never commands it
        on purpose.
    """

    name: str
    function: ca.Function
    states: Labels
    inputs: Labels
    measurements: Labels = field(default_factory=lambda: Labels(kind="measurement"))
    memory: Labels = field(default_factory=lambda: Labels(kind="memory"))
    parameters: Labels = field(default_factory=lambda: Labels(kind="law parameter"))
    z0: Any = ()
    p: Any = ()
    period: float = 0.0
    reference: Trajectory | None = None
    reference_rates: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)
    undefined: str = ""

    def __post_init__(self) -> None:
        what = f"law '{self.name}'"
        object.__setattr__(self, "period", as_scalar(self.period, f"{what}: period"))
        if self.period < 0.0:
            raise ModelError(
                f"{what}: period is {self.period} s; expected 0 (continuous) or a positive sampling period"
            )
        object.__setattr__(self, "z0", as_array(self.z0, (len(self.memory),), f"{what}: z0"))
        object.__setattr__(self, "p", as_array(self.p, (len(self.parameters),), f"{what}: p"))
        given = (tuple(self.function.name_in()), tuple(self.function.name_out()))
        if given != (LAW_INPUTS, LAW_OUTPUTS):
            raise ModelError(f"{what}: function maps {given[0]} to {given[1]}; expected {LAW_INPUTS} to {LAW_OUTPUTS}")
        n_r = 0 if self.reference is None else self.reference.values.shape[1] * (2 if self.reference_rates else 1)
        sizes = (1, len(self.states), len(self.measurements), len(self.memory), n_r, len(self.parameters))
        for i, (letter, size) in enumerate(zip(LAW_INPUTS, sizes, strict=True)):
            if self.function.numel_in(i) != size:
                raise ShapeError(
                    f"{what}: function takes {self.function.numel_in(i)} values of {letter}, expected {size}"
                )
        for i, (letter, size) in enumerate(
            zip(LAW_OUTPUTS, (len(self.inputs), len(self.memory), len(self.memory)), strict=True)
        ):
            if self.function.nnz_out(i) != size:
                raise ShapeError(
                    f"{what}: function gives {self.function.nnz_out(i)} values of {letter}, expected {size} (dense)"
                )

    @cached_property
    def kinks(self) -> ca.Function | None:
        """Function (t, x, y, z, r, p) -> g that crosses zero where u or z_dot has a kink (`switching_function`), or None."""
        return switching_function(self.function, constant=("p",))

    @cached_property
    def content_hash(self) -> str:
        """sha256 hash of the law: its function, parameters, memory, period and reference."""
        table = None if self.reference is None else [self.reference.t, self.reference.values, self.reference.rates]
        rule = None if self.reference is None else self.reference.interpolation
        names = [list(labels.names) for labels in (self.states, self.inputs, self.measurements, self.memory)]
        return content_hash([self.function.serialize(), names, self.p, self.z0, self.period, table, rule])

    @property
    def is_sampled(self) -> bool:
        """True for a sampled law."""
        return self.period > 0.0

    def __call__(self, t: float, x: Any, y: Any = (), z: Any = None) -> np.ndarray:
        """Return the commanded inputs, shape (n_u,), for use outside a simulation.

        Raises
        ------
        SolverError
            If a command is not finite although the state is.
        """
        r = np.zeros(0) if self.reference is None else self.reference(t)
        if self.reference is not None and self.reference_rates:
            r = np.concatenate([r, self.reference.rate(t)])
        memory = np.asarray(self.z0 if z is None else z)
        u = np.asarray(self.function(t, np.asarray(x), np.asarray(y), memory, r, np.asarray(self.p))[0]).reshape(-1)
        bad = [name for name, value in zip(self.inputs.names, u, strict=True) if not np.isfinite(value)]
        if bad and np.all(np.isfinite(np.asarray(x, dtype=float))):
            summary, why = ", ".join(f"'{name}'" for name in bad), f": {self.undefined}" if self.undefined else ""
            raise SolverError(
                f"law '{self.name}' commands a value that is not finite for {summary} at t = {t:g} s{why}"
            )
        return u


@dataclass(frozen=True, kw_only=True, eq=False)
class CallableLaw:
    """Any Python function ``u = f(t, x)`` as a law; more flexible and slower than a `ControlLaw`.

    Parameters
    ----------
    function : callable
        ``f(t, x) -> u`` with x of shape (n_x,) and u of shape (n_u,).
    period : float
        Sampling period [s]; 0 means continuous.
    name : str
        Shown in results.
    """

    function: Callable[[float, np.ndarray], Any]
    period: float = 0.0
    name: str = "python callable"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"law '{self.name}': expected a function u = f(t, x), got {self.function!r}")
        if not (as_scalar(self.period, f"law '{self.name}': period") >= 0.0):
            raise ModelError(f"law '{self.name}': period is {self.period} s; expected 0 or a positive sampling period")


def make_law(
    rule: Callable[[Accessor], Any],
    *,
    name: str,
    states: Labels,
    inputs: Labels,
    measurements: Labels | None = None,
    memory: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    reference: Trajectory | None = None,
    reference_rates: bool = False,
    period: float = 0.0,
    notes: Mapping[str, Any] | None = None,
) -> ControlLaw:
    """Build a `ControlLaw` from an expression of named quantities.

    Parameters
    ----------
    rule : callable
        Receives an accessor s (``s.t``, ``s.x``, ``s.y``, ``s.z``, ``s.r``, ``s.p`` and entries by name) and returns
        the inputs u, or the pair (u, m) where m is z_dot for a continuous law and z_next for a sampled one.
    name : str
        Shown in results and messages.
    states, inputs, measurements : Labels
        Names and units of x, u and y.
    memory, parameters : mapping of str to float
        Names and initial values of z, and names and values of p.
    reference : Trajectory, optional
        The table r(t); its columns are available by name.
    reference_rates : bool
        Whether the rates of the columns are available too, as ``name + "_dot"``.
    period : float
        Sampling period [s]; 0 means continuous.
    notes : mapping, optional
        Description of its design, for the report.

    Examples
    --------
    >>> x, u = Labels(("angle", "rate"), ("rad", "rad/s")), Labels(("torque",), ("N m",))
    >>> law = make_law(lambda s: -s["k"] * s["angle"], name="spring", states=x, inputs=u, parameters={"k": 3.0})
    >>> law(0.0, [2.0, 0.0])
    array([-6.])
    """
    period = as_scalar(period, f"law '{name}': period")
    measured = measurements or Labels(kind="measurement")
    z_labels = Labels(tuple(memory or ()), (), "memory")
    p_labels = Labels(tuple(parameters or ()), (), "law parameter")
    r_labels = reference.labels if reference is not None else Labels(kind="reference")
    if reference_rates:
        r_labels = Labels(r_labels.names + tuple(f"{item}_dot" for item in r_labels.names), (), "reference")
    _refuse_shadows(name, states, measured, z_labels, p_labels)
    t = ca.SX.sym("t")
    letters = {"x": states, "y": measured, "z": z_labels, "r": r_labels, "p": p_labels}
    symbols = {letter: (ca.SX.sym(letter, len(labels)), labels) for letter, labels in letters.items()}
    answer = evaluate_rule(rule, Accessor(symbols, t), f"law '{name}'")
    has_memory = isinstance(answer, tuple) and len(answer) == 2 and memory
    command, change = answer if has_memory else (answer, [0.0] * len(z_labels))
    u = as_column(command, len(inputs), f"law '{name}': u")
    dz = as_column(change, len(z_labels), f"law '{name}': memory")
    z = symbols["z"][0]
    z_dot, z_next = (dz * 0.0, dz if has_memory else z) if period > 0.0 else (dz, z)
    outputs = [ca.densify(item) for item in (u, z_dot, z_next)]
    arguments = [t, *(symbol for symbol, _ in symbols.values())]
    return ControlLaw(
        name=name,
        function=ca.Function("law", arguments, outputs, list(LAW_INPUTS), list(LAW_OUTPUTS)),
        states=states,
        inputs=inputs,
        measurements=measured,
        memory=z_labels,
        parameters=p_labels,
        z0=list((memory or {}).values()),
        p=list((parameters or {}).values()),
        period=period,
        reference=reference,
        reference_rates=reference_rates and reference is not None,
        notes=notes or {},
    )


def _refuse_shadows(name: str, *groups: Labels) -> None:
    """Raise if measurements, memory entries or parameters share a name: a rule would read the wrong one."""
    seen: dict[str, str] = {}
    for labels in groups:
        for item in labels.names:
            if item in seen:
                raise ModelError(f"law '{name}': {labels.kind} '{item}' has the name of a {seen[item]}; rename it")
            seen[item] = labels.kind
