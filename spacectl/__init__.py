"""spacectl: control design for space manipulators, flexible spacecraft and tethers."""

__version__ = "0.1.0"
