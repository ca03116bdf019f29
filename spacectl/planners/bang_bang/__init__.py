"""Minimum time of flexible systems by linear programmes on their exact flow."""
