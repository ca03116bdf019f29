"""Linear analysis: operating points, exact linear models about points and along motions, modes, reduction, norms, margins."""

from spacectl.linear.along import linearize_along
from spacectl.linear.campbell import campbell
from spacectl.linear.campbell_result import Campbell, Crossing, Instability
from spacectl.linear.classical import ClassicalMargins, classical_margins
from spacectl.linear.controllability import (
    Controllability,
    Observability,
    check_controllability,
    check_observability,
    require_detectable,
    require_stabilizable,
)
from spacectl.linear.floquet import Floquet, floquet
from spacectl.linear.linear_model import LinearModel
from spacectl.linear.linear_trajectory import LinearTrajectory
from spacectl.linear.linearize import linearize
from spacectl.linear.locked import find_locked_frequencies
from spacectl.linear.margins import DiskMargin, DiskMargins, disk_margins, perturbed_poles
from spacectl.linear.mode_margins import WeakMode
from spacectl.linear.modes import Modes, modes
from spacectl.linear.norms import SystemNorm, h2_norm, h_infinity_norm
from spacectl.linear.operating_point import OperatingPoint, find_operating_point
from spacectl.linear.reduce import Reduction, reduce_balanced, reduce_modal
from spacectl.linear.tangent import displace_state, subtract_states

__all__ = [
    "Campbell",
    "ClassicalMargins",
    "Controllability",
    "Crossing",
    "DiskMargin",
    "DiskMargins",
    "Floquet",
    "Instability",
    "LinearModel",
    "LinearTrajectory",
    "Modes",
    "Observability",
    "OperatingPoint",
    "Reduction",
    "SystemNorm",
    "WeakMode",
    "campbell",
    "check_controllability",
    "check_observability",
    "classical_margins",
    "disk_margins",
    "displace_state",
    "find_locked_frequencies",
    "find_operating_point",
    "floquet",
    "h2_norm",
    "h_infinity_norm",
    "linearize",
    "linearize_along",
    "modes",
    "perturbed_poles",
    "reduce_balanced",
    "reduce_modal",
    "require_detectable",
    "require_stabilizable",
    "subtract_states",
]
