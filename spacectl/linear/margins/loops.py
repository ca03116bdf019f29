"""Loops as linear models: the loop gain broken at the input, the output or both sides of a plant, and its closure.

A plant and a feedback give the loop gain L, and L gives the sensitivity ``(1 + L)^-1``. `margins` computes their
margins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.linear.margins.norms import realisation
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["closed_loop", "form_loop"]


def form_loop(model: LinearModel, K: Any, at: str) -> LinearModel:
    """Return the loop gain for the feedback ``u = -K y``: K P at the input, P K at the output, ``[[0, K], [-P, 0]]`` at both.

    Without K the model is the loop gain itself. Its channels have the names of the plant's inputs or outputs; at both
    sides a name that occurs twice gets the prefix ``input.`` or ``output.``.
    """
    if at not in ("input", "output", "both"):
        raise ModelError(f"disk_margins: at is {at!r}, expected 'input', 'output' or 'both'")
    if K is None:
        if len(model.u) != len(model.y):
            raise ShapeError(
                f"disk_margins: the loop gain has {len(model.u)} inputs and {len(model.y)} outputs, expected as many; "
                "give the feedback as K if the model is a plant"
            )
        if at != "input":
            raise ModelError(f"disk_margins: at={at!r} needs a plant and a feedback K; the loop gain alone has one cut")
        return _named(model, model.u if at == "input" else model.y)
    P, F = realisation(model), _feedback(model, K)
    n, k = len(P[0]), len(F[0])
    names = (*model.x.names, *(f"feedback.{name}" for name in _state_names(K, k)))
    x = Labels(names, (), "state")
    if at == "both":
        A = np.block([[P[0], np.zeros((n, k))], [np.zeros((k, n)), F[0]]])
        B = np.block([[P[1], np.zeros((n, len(model.y)))], [np.zeros((k, len(model.u))), F[1]]])
        C = np.block([[np.zeros((len(model.u), n)), F[2]], [-P[2], np.zeros((len(model.y), k))]])
        D = np.block([[np.zeros((len(model.u),) * 2), F[3]], [-P[3], np.zeros((len(model.y),) * 2)]])
        twice = set(model.u.names) & set(model.y.names)
        inputs = tuple(f"input.{name}" if name in twice else name for name in model.u.names)
        outputs = tuple(f"output.{name}" if name in twice else name for name in model.y.names)
        channel = Labels((*inputs, *outputs), (), "channel")
        return LinearModel(A=A, B=B, C=C, D=D, x=x, u=channel, y=channel)
    first, second, labels = (P, F, model.u) if at == "input" else (F, P, model.y)
    sizes = (len(first[0]), len(second[0]))
    A = np.block([[first[0], np.zeros(sizes)], [second[1] @ first[2], second[0]]])
    B = np.vstack([first[1], second[1] @ first[3]])
    C = np.hstack([second[3] @ first[2], second[2]])
    x = x if at == "input" else Labels((*names[n:], *names[:n]), (), "state")
    channel = Labels(labels.names, labels.units, "channel")
    return LinearModel(A=A, B=B, C=C, D=second[3] @ first[3], x=x, u=channel, y=channel)


def closed_loop(loop: LinearModel) -> LinearModel:
    """Return the sensitivity ``S = (1 + L)^-1`` of a loop gain."""
    A, B, C, D = realisation(loop)
    one = np.eye(len(D))
    if np.linalg.cond(one + D) > 1e14:
        raise ModelError(
            "the loop is not well posed: 1 + D of the loop gain is singular; add a delay or a lag to the loop"
        )
    S = np.linalg.inv(one + D)
    return LinearModel(A=A - B @ S @ C, B=B @ S, C=-S @ C, D=S, x=loop.x, u=loop.u, y=loop.y)


def _feedback(model: LinearModel, K: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a realisation of the feedback, from outputs to inputs of the plant."""
    shape = (len(model.u), len(model.y))
    if isinstance(K, LinearModel):
        if (len(K.y), len(K.u)) != shape:
            raise ShapeError(
                f"disk_margins: K has {len(K.y)} outputs and {len(K.u)} inputs, expected {shape[0]} and {shape[1]}"
            )
        return realisation(K)
    gain = np.asarray(as_array(K, None, "disk_margins: K"))
    if gain.shape != shape:
        raise ShapeError(
            f"disk_margins: K has shape {gain.shape}, expected {shape} (inputs by outputs of the plant); for a state "
            "feedback linearize with outputs=model.x.names"
        )
    return np.zeros((0, 0)), np.zeros((0, shape[1])), np.zeros((shape[0], 0)), gain


def _state_names(K: Any, count: int) -> tuple[str, ...]:
    return K.x.names if isinstance(K, LinearModel) else tuple(f"{k + 1}" for k in range(count))


def _named(model: LinearModel, labels: Labels) -> LinearModel:
    channel = Labels(labels.names, labels.units, "channel")
    return LinearModel(A=model.A, B=model.B, C=model.C, D=model.D, x=model.x, u=channel, y=channel)
