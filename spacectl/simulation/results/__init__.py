"""Labelled results, their files, and checks of their validity."""
