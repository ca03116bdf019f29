"""What a page carries is what was given, to the precision that is promised."""

from __future__ import annotations

import numpy as np

from spacectl.core.figure import Band, Figure, Line, Panel
from spacectl.reports.arrays import LEVELS, decimate, pack, pack_indices, pack_tracks, unpack, unpack_tracks
from spacectl.reports.page.figure_data import POINTS, figure_from_data, figure_to_data


def test_arrays_come_back() -> None:
    values = np.random.default_rng(1).normal(size=(7, 3, 2))
    assert np.array_equal(unpack(pack(values)), values.astype(np.float32))
    assert unpack(pack_indices([[0, 70000]])).tolist() == [[0, 70000]]


def test_tracks_come_back_within_half_a_level() -> None:
    values = np.random.default_rng(2).normal(size=(50, 4)) * [1e-6, 1.0, 1e4, 0.0] + [0.0, 0.0, 6.7e6, 3.0]
    found = unpack_tracks(pack_tracks(values))
    assert np.all(np.abs(found - values) <= 0.5001 * np.ptp(values, axis=0) / LEVELS + 1e-9)
    assert np.array_equal(found[:, 3], values[:, 3]), "a column that does not change is exact"


def test_a_long_curve_keeps_its_ends_and_peaks() -> None:
    x = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(40.0 * x)
    y[[31_234, 77_777]] = 5.0, -7.0
    kept_x, kept_y = decimate(x, y, 1000)
    assert kept_x.size <= 1000
    assert (kept_x[0], kept_x[-1]) == (0.0, 1.0)
    assert (kept_y.max(), kept_y.min()) == (5.0, -7.0)
    assert np.all(np.diff(kept_x) > 0.0)


def test_a_figure_comes_back_from_its_data() -> None:
    line = Line(x=np.arange(10_000.0), y=np.arange(10_000.0) ** 0.5, label="a <b>", style="dashed")
    panel = Panel(lines=(line,), y_label="angle", unit="rad", bands=(Band(low=-np.inf, high=2.0),), log_y=True)
    data = figure_to_data(Figure(name="f", title="T", caption="C", panels=(panel,)))
    found = figure_from_data(data)
    assert (found.name, found.title, found.caption) == ("f", "T", "C")
    assert found.panels[0].bands == panel.bands
    assert (found.panels[0].log_y, found.panels[0].lines[0].style) == (True, "dashed")
    assert found.panels[0].lines[0].x.size <= POINTS
    assert data["panels"][0]["y_units"]["deg"] == "deg"
