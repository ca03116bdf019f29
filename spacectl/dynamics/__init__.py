"""From descriptions to equations of motion: kinematics, terms, formulations, numeric calls."""

from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.form import FORMULATIONS, form_equations

__all__ = ["FORMULATIONS", "EquationsOfMotion", "form_equations"]
