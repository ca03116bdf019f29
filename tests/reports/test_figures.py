"""Drawings say what the data say: units, limits, colours, and the same bytes for the same data."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from spacectl.core.figure import Band, Figure, Line, Panel, Region
from spacectl.reports.page.figure_data import figure_from_data, figure_to_data
from spacectl.reports.page.figures import draw_figure, line_looks, render_figure, save_figure
from spacectl.reports.units import format_value, metric_unit, pretty_unit, shown_unit

T = np.linspace(0.0, 1.0, 11)


def figure_of(*panels: Panel) -> Figure:
    return Figure(name="test", title="A test", panels=panels)


def test_radians_are_drawn_in_degrees_and_metres_as_they_are() -> None:
    line = Line(x=T, y=T, label="angle")
    canvas = draw_figure(
        figure_of(Panel(lines=[line], y_label="angle", unit="rad"), Panel(lines=[line], y_label="height", unit="m"))
    )
    top, bottom = canvas.axes
    assert top.get_ylabel() == "angle [deg]"
    # 1 rad in degrees; the factor 180/pi is rounded once
    assert top.lines[0].get_ydata()[-1] == pytest.approx(57.29577951308232, rel=1e-15)
    assert bottom.get_ylabel() == "height [m]"
    assert bottom.lines[0].get_ydata()[-1] == 1.0
    assert (top.get_xlabel(), bottom.get_xlabel()) == ("", "time [s]"), "the time axis is written once"


def test_a_near_limit_is_in_view_and_a_far_one_does_not_flatten_the_curve() -> None:
    line = Line(x=T, y=T, label="torque")
    near = draw_figure(
        figure_of(Panel(lines=[line], y_label="torque", unit="N m", bands=[Band(low=-1.5, high=1.5)]))
    ).axes[0]
    assert near.get_ylim()[1] > 1.5
    far = draw_figure(
        figure_of(Panel(lines=[line], y_label="torque", unit="N m", bands=[Band(low=-800.0, high=800.0)]))
    ).axes[0]
    assert far.get_ylim()[1] < 2.0
    assert far.get_legend().get_texts()[-1].get_text() == "limit ±800 N·m"


def test_a_dashed_reference_has_the_colour_of_its_line() -> None:
    lines = [
        Line(x=T, y=T, label="elbow"), Line(x=T, y=T, label="wrist"), Line(x=T, y=T, label="wrist reference", style="dashed"),
        Line(x=T, y=T, label="limit", style="dashed"),
    ]  # fmt: skip
    colours = [line.get_color() for line in draw_figure(figure_of(Panel(lines=lines, y_label="angle"))).axes[0].lines]
    assert colours[2] == colours[1] != colours[0]
    assert len(set(colours)) == 3


def test_many_lines_stay_apart() -> None:
    lines = [Line(x=T, y=T + i, label=f"joint{i}") for i in range(16)]
    drawn = draw_figure(figure_of(Panel(lines=lines, y_label="angle"))).axes[0].lines
    assert len({(line.get_color(), str(line._dash_pattern)) for line in drawn}) == 16


def test_equal_data_gives_equal_files() -> None:
    figure = figure_of(Panel(lines=[Line(x=T, y=T, label="a")], y_label="angle", unit="rad"))
    for suffix in ("svg", "png", "pdf"):
        assert render_figure(figure, suffix=suffix) == render_figure(figure, suffix=suffix)


def test_names_are_text_never_formulas_or_markup(tmp_path) -> None:  # type: ignore[no-untyped-def]
    wild = "$\\frac{1$ <script>alert(1)</script> --> & _x"
    panel = Panel(lines=[Line(x=T, y=T, label=wild), Line(x=T, y=-T, label="_hidden")], y_label=wild, title=wild)
    figure = Figure(name="wild", title=wild, panels=[panel])
    png, svg = save_figure(figure, tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    tags = {element.tag.split("}")[-1] for element in ElementTree.parse(svg).iter() if isinstance(element.tag, str)}
    assert "script" not in tags
    assert len(draw_figure(figure).axes[0].get_legend().get_texts()) == 2


def test_maps_and_logarithms_are_drawn() -> None:
    round_ = Line(x=np.cos(T), y=np.sin(T), label="path", style="markers")
    path = Panel(lines=[round_], y_label="y", unit="m", x_label="x", x_unit="m", equal_axes=True)
    drift = Panel(
        lines=[Line(x=T, y=1e-12 * (1 + T), label="drift")],
        y_label="drift",
        log_y=True,
        bands=[Band(low=0.0, high=2e-12)],
    )
    canvas = draw_figure(figure_of(path, drift))
    assert canvas.axes[0].get_aspect() == 1.0
    assert canvas.axes[1].get_yscale() == "log"
    assert canvas.axes[0].get_xlabel() == "x [m]"
    assert render_figure(figure_of(path, drift), suffix="png").startswith(b"\x89PNG")


def test_units_are_written_as_people_write_them() -> None:
    assert pretty_unit("m/s^2") == "m/s²"
    assert pretty_unit("kg m^-1") == "kg·m⁻¹"
    assert pretty_unit("1") == ""
    assert shown_unit("rad/s^2")[0] == "deg/s²"
    assert shown_unit("N m/rad") == ("N·m/rad", 1.0), "a stiffness is not an angle"
    assert metric_unit("mass") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(12, "12"), (-0.5, "−0.5"), (1.5e-9, "1.5 × 10⁻⁹"), (None, "not available"), ([[1.0], [2.0]], "(1), (2)")],
)
def test_values_are_written_as_people_write_them(value: object, text: str) -> None:
    assert format_value(value) == text


def test_an_area_is_shaded_without_widening_the_view() -> None:
    x = np.linspace(0.0, 1.0, 5)
    line, area = Line(x=x, y=x, label="plan"), Region(x=x, low=x + 1.0, high=np.full(5, 50.0), label="not feasible")
    axes = [draw_figure(Figure(name="f", title="", panels=(Panel(lines=(line,), y_label="y", regions=r),))).axes[0]
            for r in ((), (area,))]  # fmt: skip
    assert axes[0].get_ylim() == axes[1].get_ylim() and axes[0].get_xlim() == axes[1].get_xlim()
    assert len(axes[1].collections) == 1 and "not feasible" in {t.get_text() for t in axes[1].get_legend().get_texts()}


def test_a_line_without_a_label_continues_the_one_before() -> None:
    x = np.linspace(0.0, 1.0, 3)
    lines = (Line(x=x, y=x, label="a"), Line(x=x, y=x, label="b", style="dotted"), Line(x=x, y=-x, style="dotted"))
    colours = [colour for colour, _ in line_looks(lines)]
    assert colours[1] == colours[2] != colours[0]


def test_areas_survive_the_data_of_a_page() -> None:
    x = np.linspace(0.0, 1.0, 5)
    area = Region(x=x, low=x, high=x + 1.0, label="area")
    panel = Panel(lines=(Line(x=x, y=x, label="plan"),), y_label="y", regions=(area,))
    back = figure_from_data(figure_to_data(Figure(name="f", title="t", panels=(panel,)))).panels[0].regions[0]
    assert back.label == "area" and np.allclose(back.low, x, atol=1e-6) and np.allclose(back.high, x + 1.0, atol=1e-6)
