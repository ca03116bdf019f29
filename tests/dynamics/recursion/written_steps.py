"""Write steps.c, the generated steps for the kinds of spacectl: ``python -m tests.dynamics.recursion.written_steps``."""

from __future__ import annotations

from pathlib import Path

from spacectl.dynamics.recursion import steps

FILE = Path(steps.__file__).with_name("steps.c")

if __name__ == "__main__":
    FILE.write_text(steps.generate_steps(), encoding="utf-8")
