"""From descriptions to equations of motion: kinematics, terms, formulations, numeric calls."""
