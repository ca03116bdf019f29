"""Controllers: functions that design a `ControlLaw` for given equations of motion."""
