"""Controllers: functions that design a `ControlLaw` for given equations of motion."""

from spacectl.controllers.attitude_filter import design_attitude_filter
from spacectl.controllers.delay import add_delay
from spacectl.controllers.estimators import KalmanFilter, design_kalman
from spacectl.controllers.filters import add_low_pass, add_notch
from spacectl.controllers.linearization_report import LinearizationReport
from spacectl.controllers.lqg import LqgLaw, design_lqg
from spacectl.controllers.lqr import LqrLaw, design_lqr
from spacectl.controllers.lqr_along import LqrTrajectoryLaw, design_lqr_along
from spacectl.controllers.noise import add_noise, reseed
from spacectl.controllers.pd import design_pd
from spacectl.controllers.profiles import RestToRest, smoothed_bang_bang
from spacectl.controllers.shaping import Shaper, combine_shapers, design_shaper, shape_modes
from spacectl.controllers.shaping_commands import shape_command, shape_trajectory
from spacectl.controllers.shaping_figures import draw_sensitivity
from spacectl.controllers.spillover import Spillover, SpilloverMode, check_spillover
from spacectl.controllers.tracking_report import TrackingReport
from spacectl.controllers.vibration import VibrationLaw, suppress_vibration
from spacectl.controllers.wrappers import add_dead_zone, limit_rate, quantize, saturate
from spacectl.controllers.wrappers_windup import prevent_windup

__all__ = [
    "KalmanFilter",
    "LinearizationReport",
    "LqgLaw",
    "LqrLaw",
    "LqrTrajectoryLaw",
    "RestToRest",
    "Shaper",
    "Spillover",
    "SpilloverMode",
    "TrackingReport",
    "VibrationLaw",
    "add_dead_zone",
    "add_delay",
    "add_low_pass",
    "add_noise",
    "add_notch",
    "check_spillover",
    "combine_shapers",
    "design_attitude_filter",
    "design_kalman",
    "design_lqg",
    "design_lqr",
    "design_lqr_along",
    "design_pd",
    "design_shaper",
    "draw_sensitivity",
    "limit_rate",
    "prevent_windup",
    "quantize",
    "reseed",
    "saturate",
    "shape_command",
    "shape_modes",
    "shape_trajectory",
    "smoothed_bang_bang",
    "suppress_vibration",
]
