"""Controllers: functions that design a `ControlLaw` for given equations of motion."""

from spacectl.controllers.pd import design_pd

__all__ = ["design_pd"]
