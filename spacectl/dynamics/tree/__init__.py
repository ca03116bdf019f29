"""The tree of bodies behind a system: kinematics and the terms of its equations of motion."""
