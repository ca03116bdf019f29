"""Linear analysis: operating points, exact linear models, modes."""

from spacectl.linear.linear_model import LinearModel
from spacectl.linear.linearize import linearize
from spacectl.linear.modes import Modes, modes
from spacectl.linear.operating_point import OperatingPoint, find_operating_point

__all__ = ["LinearModel", "Modes", "OperatingPoint", "find_operating_point", "linearize", "modes"]
