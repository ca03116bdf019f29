"""Linear analysis: operating points, exact linear models."""

from spacectl.linear.linear_model import LinearModel
from spacectl.linear.linearize import linearize
from spacectl.linear.operating_point import OperatingPoint, find_operating_point

__all__ = ["LinearModel", "OperatingPoint", "find_operating_point", "linearize"]
