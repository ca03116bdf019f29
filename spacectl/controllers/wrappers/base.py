"""Common part of all wrappers: a rule for one signal becomes a law around a law.

`wrap_signals` puts a rule on chosen inputs, measurements or states of a law and appends the memory and the numbers that
the rule needs; names, units, period, reference and notes of the law are retained. The rules themselves are in
`wrappers`, `delay`, `filters` and `noise`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import casadi as ca
import numpy as np

from spacectl.core.array import as_array
from spacectl.core.control_law import LAW_INPUTS, LAW_OUTPUTS, ControlLaw
from spacectl.core.errors import ModelError, as_number, unknown_name
from spacectl.core.labels import Labels

__all__ = [
    "Channel",
    "On",
    "Rule",
    "call_symbols",
    "clip",
    "derive_law",
    "free_prefix",
    "labels_of",
    "numbers_by_signal",
    "require_law",
    "wrap_signals",
]

On = Literal["inputs", "measurements", "states"]  #: which signals of a law a wrapper acts on

#: (signal, memory by name, numbers by name) -> (new signal, change of the memory by name)
Rule = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], tuple[Any, Mapping[str, Any]]]

_HUGE = 1e300  # the comparison is false for infinity and NaN


@dataclass(frozen=True, kw_only=True)
class Channel:
    """One signal that is wrapped: the rule, the memory it starts with, and its numbers.

    Parameters
    ----------
    rule : callable
        ``(signal, z, p) -> (signal, change)``; change holds z_dot of a continuous law, z_next of a sampled one.
    memory : mapping of str to float
        Names with starting values.
    numbers : mapping of str to float
        Names with values; they become parameters of the law, so that new values compile nothing.
    """

    rule: Rule
    memory: Mapping[str, float] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)


def require_law(law: Any, what: str) -> None:
    """Raise `ModelError` unless `law` is a `ControlLaw`."""
    if not isinstance(law, ControlLaw):
        raise ModelError(
            f"{what}: expected a ControlLaw, got {type(law).__name__}; write the law with make_law, a Python function "
            "cannot be wrapped"
        )


def clip(signal: Any, low: Any = None, high: Any = None) -> Any:
    """Clip `signal` to its limits. NaN remains NaN, which fmin and fmax alone would turn into a limit.

    fmin and fmax are used because a simulation detects the kinks of a law by them.
    """
    above = signal if low is None else ca.fmax(signal, low)
    within = above if high is None else ca.fmin(above, high)
    return ca.if_else(signal * signal < _HUGE, within, signal)


def labels_of(law: ControlLaw, on: On, what: str) -> Labels:
    """Return the labels of the signals selected by `on`; at least one."""
    if on not in get_args(On):
        raise ModelError(f"{what}: on is {on!r}, expected {', '.join(map(repr, get_args(On)))}")
    labels: Labels = getattr(law, on)
    if not len(labels):
        raise ModelError(f"{what}: law '{law.name}' has no {on}; there are inputs {', '.join(law.inputs.names)}")
    return labels


def numbers_by_signal(
    law: ControlLaw, value: Any, *, on: On, what: str, positive: bool = True, default: float | None = None
) -> dict[str, float]:
    """Return a number for each signal: one for all, one each in order, or a mapping of names (the others are unchanged).

    With a `default`, signals that a mapping leaves out have it. Zero is allowed unless `positive`.

    Raises
    ------
    ModelError
        With the name of the law, of the signal and of the argument.
    """
    labels = labels_of(law, on, what)
    summary = f"{what} of law '{law.name}'"
    if isinstance(value, Mapping):
        for name in value:
            if name not in labels:
                raise ModelError(f"{summary}: {unknown_name(labels.kind, name, labels.names)}")
        found = {name: as_number(value[name], f"{summary}: {name}") for name in labels.names if name in value}
        if default is not None:
            found = {name: found.get(name, default) for name in labels.names}
    else:
        array = np.asarray(as_array(value, None, summary))
        if array.shape not in ((), (len(labels),)):
            raise ModelError(
                f"{summary}: expected a number, {len(labels)} numbers ({', '.join(labels.names)}) or a mapping of names, "
                f"got shape {array.shape}"
            )
        found = dict(zip(labels.names, np.broadcast_to(array, (len(labels),)).tolist(), strict=True))
    if not found:
        raise ModelError(f"{summary}: no signal named; give one of {', '.join(labels.names)}")
    for name, number in found.items():
        if default is None and not (0.0 < number < np.inf or (number == 0.0 and not positive)):
            least = "a positive number" if positive else "0 or a positive number"
            raise ModelError(f"{summary}: {labels.kind} '{name}' has {number:g}, expected {least}; leave others out")
        if not np.isfinite(number):
            raise ModelError(f"{summary}: {labels.kind} '{name}' has {number:g}, expected a finite number")
    return found


def free_prefix(law: ControlLaw, word: str) -> str:
    """Return `word`, or word2, word3, ...: the first that begins no name of the law yet."""
    names = law.memory.names + law.parameters.names + law.states.names + law.measurements.names
    count = 1
    while any(name.startswith(f"{word}{count if count > 1 else ''}.") for name in names):
        count += 1
    return f"{word}{count if count > 1 else ''}"


def call_symbols(law: ControlLaw, n_z: int = 0, n_p: int = 0) -> tuple[ca.Function, list[Any]]:
    """Return the law's function and symbols for its arguments, with z and p extended by `n_z` and `n_p`.

    Scalar symbols wherever the function can be written in them: they become plain C code.
    """
    function = law.function
    if not function.is_a("SXFunction"):
        with suppress(RuntimeError):  # it solves equations, or calls something that has no scalar form
            function = function.expand()
    make = ca.SX.sym if function.is_a("SXFunction") else ca.MX.sym
    more = {"z": n_z, "p": n_p}
    sizes = [function.numel_in(i) + more.get(letter, 0) for i, letter in enumerate(LAW_INPUTS)]
    return function, [make(letter, size) for letter, size in zip(LAW_INPUTS, sizes, strict=True)]


def derive_law(law: ControlLaw, **changes: Any) -> ControlLaw:
    """Return the law with some fields changed, as a plain `ControlLaw`.

    Results of the design (gains, poles, margins of `design_lqr`) are not valid for the wrapped law, and remain
    with the inner law.
    """
    kept = {item.name: getattr(law, item.name) for item in fields(ControlLaw)}
    return ControlLaw(**{**kept, **changes})


def wrap_signals(
    law: ControlLaw, channels: Mapping[str, Channel], *, on: On, prefix: str, title: str, notes: Mapping[str, Any]
) -> ControlLaw:
    """Return the law with rules on some of its signals.

    Parameters
    ----------
    law : ControlLaw
        The inner law.
    channels : mapping of str to Channel
        Rule of each named signal; the others are unchanged.
    on : {"inputs", "measurements", "states"}
        Kind of the signals.
    prefix : str
        Begins the names of memory and numbers, ``prefix.signal.name``; see `free_prefix`.
    title : str
        Appended to the law's name.
    notes : mapping
        For the report; appended to ``notes["wrappers"]``.

    Returns
    -------
    ControlLaw
    """
    labels = labels_of(law, on, title)
    memory = {f"{prefix}.{name}.{key}": v for name, item in channels.items() for key, v in item.memory.items()}
    units = tuple(
        "1" if key == "count" else labels.unit(name) for name, item in channels.items() for key in item.memory
    )
    numbers = {f"{prefix}.{name}.{key}": v for name, item in channels.items() for key, v in item.numbers.items()}
    function, arguments = call_symbols(law, len(memory), len(numbers))
    t, x, y, z, r, p = arguments
    n_z, n_p = len(law.memory), len(law.parameters)
    own = dict(zip(memory, ca.vertsplit(z[n_z:]) if memory else [], strict=True))
    given = dict(zip(numbers, ca.vertsplit(p[n_p:]) if numbers else [], strict=True))
    changes: dict[str, Any] = {}

    def apply(signals: Any) -> Any:
        entries = ca.vertsplit(signals)
        for name, item in channels.items():
            i = labels.index(name)
            entries[i], change = item.rule(
                entries[i],
                {key: own[f"{prefix}.{name}.{key}"] for key in item.memory},
                {key: given[f"{prefix}.{name}.{key}"] for key in item.numbers},
            )
            changes.update({f"{prefix}.{name}.{key}": value for key, value in change.items()})
        return ca.vertcat(*entries)

    if on == "measurements":
        y = apply(y)
    elif on == "states":
        x = apply(x)
    u, z_dot, z_next = function(t, x, y, z[:n_z, :], r, p[:n_p, :])
    if on == "inputs":
        u = apply(u)
    change = ca.vertcat(*[changes[name] for name in memory])
    idle = z[n_z:, :]  # of a single entry z[1:] would be a row
    z_dot = ca.vertcat(z_dot, 0.0 * idle if law.is_sampled else change)
    z_next = ca.vertcat(z_next, change if law.is_sampled else idle)
    outputs = [ca.densify(item) for item in (u, z_dot, z_next)]
    details = {"kind": title, "on": on, **notes}
    return derive_law(
        law,
        name=f"{law.name}, {title}",
        function=ca.Function("law", arguments, outputs, list(LAW_INPUTS), list(LAW_OUTPUTS)),
        memory=law.memory + Labels(tuple(memory), units, "memory"),
        parameters=law.parameters + Labels(tuple(numbers), (), "law parameter"),
        z0=np.concatenate([np.asarray(law.z0), list(memory.values())]),
        p=np.concatenate([np.asarray(law.p), list(numbers.values())]),
        notes={**law.notes, "wrappers": [*law.notes.get("wrappers", ()), details]},
    )
