"""What an import loads: heavy libraries come when they are used, not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("matplotlib", "pandas", "xarray", "h5py", "h5netcdf", "plotly", "k3d", "control", "jinja2", "typer", "rich")
SIMULATE = """
from spacectl import form_equations, library, simulate
eom = form_equations(library.pendulum())
simulate(eom, None, x0=eom.state(hinge=0.1), t_span=(0.0, 0.1), tier="vm")
"""
LIST = "from spacectl.cli.main import run_command_line\nrun_command_line(['list'])"


def loaded(code: str) -> set[str]:
    """Top-level packages that are loaded after running some code in a new interpreter."""
    report = "\nimport sys\nprint('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code + report], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.parametrize(
    ("code", "allowed"),
    [("import spacectl", set()), (SIMULATE, {"numpy", "scipy", "casadi"}), (LIST, {"numpy", "typer", "rich"})],
    ids=["import", "simulate", "list"],
)
def test_heavy_libraries_come_when_they_are_used(code: str, allowed: set[str]) -> None:
    assert loaded(code) & {*HEAVY, "numpy", "scipy", "casadi"} <= allowed
