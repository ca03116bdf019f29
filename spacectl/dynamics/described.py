"""The system that run-time parameters describe: what reads bodies, not numbers, has to read those that the run had."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.system import System

__all__ = ["described_system"]


def described_system(eom: EquationsOfMotion, p: Any = None) -> System:
    """The system of `eom` with the flexible bodies that the numbers p belong to.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    p : array, shape (n_p,), optional
        Run-time parameters, made by named fields (``{"boom.length": 5.0}``) in this process. Numbers from elsewhere do not
        say which fields they came from; the system then stays as it is.
    """
    names = eom.parameters.physical
    if names is None or p is None:
        return eom.system
    system: System = names.described(eom.system, np.asarray(p, dtype=float))
    return system
