"""Writes ``spacectl/__init__.pyi``, which shows the public names to type checkers: ``python -m tests.package.public_stub``."""

from __future__ import annotations

from pathlib import Path

import spacectl

STUB = Path(spacectl.__file__).with_suffix(".pyi")


def write_stub() -> str:
    """Return the text of the stub: one import for each defining module."""
    lines = ["# Written by `make stub` from the table in __init__.py; a test compares the two.", ""]
    lines += ["from spacectl.model import library as library"]
    for module, names in sorted(spacectl._PUBLIC.items()):
        listed = ", ".join(f"{name} as {name}" for name in sorted(names.split()))
        line = f"from spacectl.{module} import {listed}"
        lines.append(
            line
            if len(line) <= 120
            else f"from spacectl.{module} import (\n    " + listed.replace(", ", ",\n    ") + ",\n)"
        )
    return "\n".join([*lines, "", "__version__: str", "__all__: list[str]", ""])


if __name__ == "__main__":
    STUB.write_text(write_stub(), encoding="utf-8")
