"""From descriptions to equations of motion: kinematics, terms, formulations, numeric calls."""

from spacectl.dynamics.form import FORMULATIONS, form_equations
from spacectl.dynamics.tension import find_tension, watch_stretch
from spacectl.dynamics.truncation.correction import Correction, correction_terms
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = [
    "FORMULATIONS",
    "Correction",
    "EquationsOfMotion",
    "correction_terms",
    "find_tension",
    "form_equations",
    "watch_stretch",
]
