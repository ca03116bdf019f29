"""The native kernels of the phase plane."""

from __future__ import annotations

import ctypes
import logging
from functools import cache

from spacectl.codegen.library import load_library
from spacectl.codegen.sources import c_source
from spacectl.core.errors import SolverError

__all__ = ["phase_library"]

_log = logging.getLogger(__name__)


@cache
def phase_library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None (said once) where there is no compiler."""
    try:
        library = load_library({"phase_plane.c": c_source(__package__, "phase_plane.c")}, name="phase_plane")
    except SolverError as error:
        _log.info("phase plane without native code: %s", error)
        return None
    pointer, integer, real = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
    library.sc_limit_curve.argtypes = [integer, integer] + [pointer] * 5
    library.sc_limit_curve.restype = None
    library.sc_check.argtypes = [integer, integer] + [pointer] * 8
    library.sc_check.restype = None
    ends = [integer, real, ctypes.c_int, real, pointer, pointer, pointer, pointer, pointer]
    library.sc_integrate.argtypes = [integer, integer] + [pointer] * 4 + ends
    library.sc_integrate.restype = integer
    return library
