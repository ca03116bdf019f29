"""steps.c is what its generator gives; with other kinds of joints it is generated anew."""

from __future__ import annotations

import subprocess
import sys

import pytest

from spacectl.dynamics.recursion import steps
from tests.dynamics.recursion.written_steps import FILE

_ALONE = """
from spacectl.dynamics.recursion import steps
assert steps.has_written_kinds()
print([(kind.name, kind.n_s) for kind in steps.step_kinds()] == [
    (name, found[0].nnz_out(1)) for name, found in steps._functions().items()
])
print(steps.generate_steps() == steps.written_steps())
"""


def test_written_steps_are_generated_ones() -> None:
    # in a process of its own: other tests register joints
    done = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True"], (
        done.stderr or "run python -m tests.dynamics.recursion.written_steps"
    )


def test_kinds_of_a_user_are_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(steps._examples())
    name, joint = next(iter(known.items()))
    monkeypatch.setattr(steps, "_examples", lambda: {name: joint})
    steps.has_written_kinds.cache_clear()
    try:
        assert not steps.has_written_kinds()
    finally:
        monkeypatch.undo()
        steps.has_written_kinds.cache_clear()
    assert FILE.read_text(encoding="utf-8").startswith("#include <math.h>")
