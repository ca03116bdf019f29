"""The command line: ``spacectl list | run | report | gallery | sweep | metrics | new | check | bench``."""
