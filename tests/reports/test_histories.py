"""A simulation draws itself: everything in it appears once, grouped by unit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import xarray

from spacectl.reports.page.histories import simulation_figures

T = np.linspace(0.0, 1.0, 6)


def dataset(**more: object) -> xarray.Dataset:
    units = ["rad", "rad", "m", "rad/s"]
    names = ["elbow", "wrist", "slide", "elbow_dot"]
    coordinates = {
        "time": T,
        "state": names,
        "state_unit": ("state", units),
        "input": ["elbow"],
        "input_unit": ("input", ["N m"]),
    }
    wanted = np.linspace(-1.0, 3.0, 6)[:, None]
    variables = {
        "x": (("time", "state"), np.outer(T, np.arange(1.0, 5.0))),
        "u": (("time", "input"), np.clip(wanted, -1.0, 2.0)),
        "u_commanded": (("time", "input"), wanted),
        **more,
    }
    return xarray.Dataset(variables, coords=coordinates)


def test_states_are_grouped_by_unit_and_inputs_show_the_cut_command() -> None:
    states, inputs = simulation_figures(SimpleNamespace(dataset=dataset()))
    assert [(panel.unit, [line.label for line in panel.lines]) for panel in states.panels] == [
        ("rad", ["elbow", "wrist"]),
        ("m", ["slide"]),
        ("rad/s", ["elbow_dot"]),
    ]
    (panel,) = inputs.panels
    assert [(line.label, line.style) for line in panel.lines] == [("elbow", "solid"), ("elbow (commanded)", "dashed")]


def test_a_command_within_the_limits_is_not_drawn_twice() -> None:
    data = dataset()
    data["u"] = data["u_commanded"]
    _, inputs = simulation_figures(SimpleNamespace(dataset=data))
    assert [line.label for line in inputs.panels[0].lines] == ["elbow"]


def test_many_names_are_spread_over_panels_and_a_broken_tail_is_left_out() -> None:
    values = np.ones((6, 16))
    values[-1] = np.nan  # a run that failed before its last time
    data = xarray.Dataset(
        {"x": (("time", "state"), values)},
        coords={"time": T, "state": [f"q{i}" for i in range(16)], "state_unit": ("state", ["m"] * 16)},
    )
    (states,) = simulation_figures(SimpleNamespace(dataset=data))
    assert [len(panel.lines) for panel in states.panels] == [7, 7, 2]
    assert states.panels[0].lines[0].x.size == 5


def test_an_empty_history_gives_no_figure() -> None:
    data = xarray.Dataset(
        {"y": (("time", "output"), np.zeros((6, 0)))}, coords={"time": T, "output": np.zeros(0, dtype=str)}
    )
    assert simulation_figures(SimpleNamespace(dataset=data)) == ()


def test_the_quaternion_of_a_joint_stays_in_one_panel() -> None:
    names = [f"{joint}.{part}" for joint in ("base", "wrist", "hand") for part in ("qw", "qx", "qy", "qz")] + ["ratio"]
    data = xarray.Dataset(
        {"x": (("time", "state"), np.ones((6, 13)))},
        coords={"time": T, "state": names, "state_unit": ("state", ["1"] * 13)},
    )
    (states,) = simulation_figures(SimpleNamespace(dataset=data))
    assert [[line.label for line in panel.lines] for panel in states.panels] == [names[:4], names[4:8], names[8:]]
