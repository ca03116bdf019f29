"""A reduction given as a `Reduction` or by the names of the states to keep, checked against its full model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.reduction.reduce import Reduction

__all__ = ["read_reduction"]


def read_reduction(
    model: LinearModel, reduction: Reduction | Iterable[str] | None, what: str
) -> tuple[LinearModel, Reduction | None]:
    """Return the model for the design, and the reduction that leads to it (None: the model itself)."""
    if reduction is None:
        return model, None
    if not isinstance(reduction, Reduction):
        if isinstance(reduction, str):
            raise ModelError(f"{what}: reduction is the text {reduction!r}; give a tuple of state names or a Reduction")
        reduction = _keep_states(model, tuple(reduction))
    if reduction.right.shape[0] != len(model.x) or reduction.model.u.names != model.u.names:
        raise ModelError(
            f"{what}: the reduction is one of {reduction.right.shape[0]} states and inputs {reduction.model.u.names}, "
            f"the model has {len(model.x)} and {model.u.names}; reduce this model"
        )
    return reduction.model, reduction


def _keep_states(model: LinearModel, names: tuple[str, ...]) -> Reduction:
    """Return rows and columns of some states, with the others zero."""
    kept = list(model.x.indices(names))
    units = tuple(model.x.units[k] for k in kept)
    left = np.eye(len(model.x))[kept]
    small = LinearModel(
        A=np.asarray(model.A)[np.ix_(kept, kept)],
        B=model.B[kept],
        C=model.C[:, kept],
        D=model.D,
        E=model.E[kept],
        x=Labels(names, units, "state"),
        u=model.u,
        y=model.y,
        d=model.d,
        point=model.point,
    )
    summary = f"kept the states {', '.join(names)}"
    return Reduction(
        model=small, right=left.T, left=left, hankel_values=np.zeros(0), bound=float("nan"), message=summary
    )
