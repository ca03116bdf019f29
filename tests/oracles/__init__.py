"""Closed forms and references written with numpy and scipy alone; nothing in here imports spacectl."""
