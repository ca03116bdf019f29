"""Frozen descriptions of systems: bodies, joints, actuators, sensors, environments."""
