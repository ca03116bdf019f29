"""The system that run-time parameters describe, for code that reads fields of bodies rather than parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.model.system import System

__all__ = ["described_system"]


def described_system(eom: EquationsOfMotion, p: Any = None) -> System:
    """Return the system of `eom` with the flexible bodies to which the parameters p belong.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    p : array, shape (n_p,), optional
        Run-time parameters, made from named fields (``{"boom.length": 5.0}``) in this process. For other values the fields
        are not known, and the system is returned unchanged.
    """
    names = eom.parameters.physical
    if names is None or p is None:
        return eom.system
    system: System = names.described(eom.system, np.asarray(p, dtype=float))
    return system
