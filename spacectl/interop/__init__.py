"""Hand-over to and from other programs: python-control."""

from spacectl.interop.control import to_nonlinear_control

__all__ = ["to_nonlinear_control"]
