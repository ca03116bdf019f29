"""Draw `core.figure.Figure` data with matplotlib, for papers and pages.

Only the object interface is used (no global figure list), so drawing is safe in workers and without a screen.
Angles appear in degrees, limits as shaded regions. Colours are distinguishable for colour-blind readers.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.figure import Band, Figure, Line, Panel, Region
from spacectl.reports.units import format_value, shown_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

__all__ = ["band_text", "draw_figure", "line_looks", "render_figure", "save_figure"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")  # Okabe and Ito, without yellow
DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (5, 2)), "dotted": (0, (1.2, 1.6)), "markers": "none"}
CONSTANT = 1e-7  # change over size up to which a curve is a constant with rounding
INK, SOFT, SHADE = "#1f2933", "#8a94a0", "#c0392b"
WIDTH, PANEL_HEIGHT, MAP_HEIGHT = 7.6, 2.15, 4.6  # [inch]
STYLE: Any = {
    "font.size": 9.0, "axes.titlesize": 9.5, "axes.labelsize": 9.0, "legend.fontsize": 8.0, "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0, "axes.edgecolor": SOFT, "axes.labelcolor": INK, "axes.titlecolor": INK, "text.color": INK,
    "xtick.color": SOFT, "ytick.color": SOFT, "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.linewidth": 0.7,
    "lines.linewidth": 1.4, "lines.markersize": 4.0, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e3e7eb", "grid.linewidth": 0.6, "axes.axisbelow": True, "svg.hashsalt": "spacectl",
    "axes.formatter.useoffset": False, "axes.formatter.limits": (-4, 5), "legend.frameon": False,
}  # fmt: skip


def draw_figure(figure: Figure, *, has_title: bool = True) -> Canvas:
    """Draw the panels of a figure, one below the other.

    Parameters
    ----------
    figure : Figure
        Figure to draw, SI units.
    has_title : bool
        Whether the figure's title is part of the drawing (a page prints it itself).

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    heights = [MAP_HEIGHT if panel.equal_axes else PANEL_HEIGHT for panel in figure.panels] or [PANEL_HEIGHT]
    height = sum(heights) + 0.45 + (0.3 if has_title else 0.0)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasAgg(canvas)
        grid = canvas.add_gridspec(len(heights), 1, height_ratios=heights)
        leader: Axes | None = None
        for i, panel in enumerate(figure.panels):
            is_shared = leader is not None and _shares_x(figure.panels[0], panel)
            axes = canvas.add_subplot(grid[i], sharex=leader if is_shared else None)
            leader = leader or axes
            is_last = i + 1 == len(figure.panels) or not _shares_x(panel, figure.panels[i + 1])
            _draw_panel(axes, panel, is_last)
        if has_title:
            _plain(canvas.suptitle(figure.title, x=0.012, ha="left", fontsize=11.0, fontweight="bold"))
    return canvas


def render_figure(
    figure: Figure, *, suffix: str = "svg", has_title: bool = True, is_transparent: bool = False, dpi: float = 180.0
) -> bytes:
    """Return the drawing as the bytes of a ``svg``, ``png`` or ``pdf`` file; equal data gives equal bytes."""
    return _bytes_of(draw_figure(figure, has_title=has_title), suffix, is_transparent=is_transparent, dpi=dpi)


def save_figure(figure: Figure, folder: str | Path, *, suffixes: Iterable[str] = ("png", "svg")) -> tuple[Path, ...]:
    """Write ``<folder>/<name>.<suffix>`` for each suffix.

    Parameters
    ----------
    figure : Figure
        Figure to draw, SI units.
    folder : path
        An existing folder.
    suffixes : iterable of str
        Any of ``"png"``, ``"svg"``, ``"pdf"``.

    Returns
    -------
    tuple of Path
        The files written.
    """
    paths = tuple(Path(folder) / f"{figure.name}.{suffix}" for suffix in suffixes)
    canvas = draw_figure(figure)
    for path in paths:
        path.write_bytes(_bytes_of(canvas, path.suffix[1:]))
    return paths


def _bytes_of(canvas: Canvas, suffix: str, *, is_transparent: bool = False, dpi: float = 180.0) -> bytes:
    from matplotlib import rc_context

    buffer = io.BytesIO()
    metadata: dict[str, Any] = {} if suffix == "png" else {"Creator": "spacectl", "Date": None}
    if suffix == "pdf":
        metadata = {"Creator": "spacectl", "CreationDate": None}
    with rc_context(STYLE):
        canvas.savefig(buffer, format=suffix, dpi=dpi, metadata=metadata, transparent=is_transparent)
    return buffer.getvalue()


def _shares_x(first: Panel, panel: Panel) -> bool:
    same_axis = (first.x_label, first.x_unit, first.log_x) == (panel.x_label, panel.x_unit, panel.log_x)
    return same_axis and not first.equal_axes and not panel.equal_axes


def _draw_panel(axes: Axes, panel: Panel, is_last: bool) -> None:
    unit, factor = shown_unit(panel.unit)
    x_unit, x_factor = shown_unit(panel.x_unit)
    if panel.log_x:
        axes.set_xscale("log", nonpositive="mask")
    if panel.log_y:
        axes.set_yscale("log", nonpositive="mask")
    handles: list[Any] = []
    names: list[str] = []
    for line, (colour, dash) in zip(panel.lines, line_looks(panel.lines), strict=True):
        marker = "o" if line.style == "markers" else None
        x, y = x_factor * np.asarray(line.x), factor * np.asarray(line.y)
        drawn = axes.plot(x, y, color=colour, linestyle=dash, marker=marker)
        handles += drawn if line.label else []
        names += [line.label] if line.label else []
    _widen_constant(axes, panel, factor)
    for region in panel.regions:
        handles.append(_draw_region(axes, region, factor, x_factor))
        names.append(region.label)
    for band in panel.bands:
        handles.append(_draw_band(axes, panel, band, factor))
        names.append(band_text(band, unit, factor))
    if panel.equal_axes:
        axes.set_aspect("equal", adjustable="datalim")
    _plain(axes.set_ylabel(_with_unit(panel.y_label, unit)))
    if is_last:
        _plain(axes.set_xlabel(_with_unit(panel.x_label, x_unit)))
    else:
        axes.tick_params(labelbottom=False)
    if panel.title:
        _plain(axes.set_title(panel.title, loc="left"))
    if names:
        shown = [" " + name if name.startswith("_") else name for name in names]
        legend = axes.legend(
            handles, shown, loc="upper left", bbox_to_anchor=(1.005, 1.02), borderaxespad=0.0, handlelength=1.9
        )
        for text in legend.get_texts():
            _plain(text)
    if all(line.x.size < 2 or line.x[0] <= line.x[-1] for line in panel.lines) and not panel.equal_axes:
        axes.margins(x=0.01)


def _widen_constant(axes: Axes, panel: Panel, factor: float) -> None:
    """Widen the view of a constant, so that its rounding noise is not visible."""
    values = np.concatenate([factor * np.asarray(line.y)[np.isfinite(line.y)] for line in panel.lines] or [np.zeros(0)])
    size = float(np.max(np.abs(values), initial=0.0))
    if values.size and not panel.log_y and size > 0.0 and float(np.ptp(values)) < CONSTANT * size:
        axes.set_ylim(float(values.min()) - 0.1 * size, float(values.max()) + 0.1 * size)


def line_looks(lines: tuple[Line, ...]) -> list[tuple[str, Any]]:
    """Return the colour and dash of each line.

    A line without a label continues the previous line of the same style. A dashed or dotted
    ``"elbow reference"`` has the colour of a solid ``"elbow"``.
    """
    solid = {line.label: None for line in lines if line.style == "solid" and line.label}
    owners = [_owner(line, solid) for line in lines]
    colours: dict[Any, int] = {}
    keys: list[Any] = []
    for i, (line, owner) in enumerate(zip(lines, owners, strict=True)):
        is_more = i > 0 and not line.label and line.style == lines[i - 1].style  # continues the line before
        keys.append(keys[i - 1] if is_more else owner or i)
        colours.setdefault(keys[i], len(colours))
    looks = []
    for line, key in zip(lines, keys, strict=True):
        again, k = divmod(colours[key], len(PALETTE))  # reuse colours with another dash
        dash = DASHES[line.style] if line.style != "solid" or again == 0 else (0, (6, 1.5, *(1, 1.5) * again))
        looks.append((PALETTE[k], dash))
    return looks


def _owner(line: Line, solid: dict[str, None]) -> str:
    """Return the label of the solid line whose colour a line has: itself, or the line it varies."""
    if line.style == "solid":
        return line.label
    first_words = [label for label in solid if line.style != "markers" and line.label.startswith(label + " ")]
    return max(first_words, key=len, default="")


def _draw_band(axes: Axes, panel: Panel, band: Band, factor: float) -> Patch:
    """Shade the region outside the band, if the curves come near it."""
    values = [factor * np.asarray(line.y) for line in panel.lines if line.y.size]
    low, high = factor * band.low, factor * band.high
    bottom, top = (float(min(v.min() for v in values)), float(max(v.max() for v in values))) if values else (low, high)
    room = 0.06 * max(top - bottom, 1e-300)
    view = list(axes.get_ylim())
    reach = 1.5 * max(top - bottom, 0.1 * max(abs(top), abs(bottom)))
    for edge, sign in ((high, 1.0), (low, -1.0)):
        nearest = top if sign > 0 else bottom
        if not math.isfinite(edge) or sign * (edge - nearest) > reach or (panel.log_y and edge <= 0.0):
            continue  # the limit is far from the curves: the legend shows it
        k = 1 if sign > 0 else 0
        outer = edge * 2.0**sign if panel.log_y else edge + sign * 2.0 * room
        beyond = edge * 1e6**sign if panel.log_y else edge + sign * 1e3 * max(abs(edge), room)
        view[k] = max(view[k], outer) if sign > 0 else min(view[k], outer)
        axes.axhspan(edge, beyond, color=SHADE, alpha=0.10, lw=0.0, zorder=0.5)
        axes.axhline(edge, color=SHADE, lw=0.8, alpha=0.6, zorder=0.6)
    axes.set_ylim(view[0], view[1])
    return _shaded()


def _draw_region(axes: Axes, region: Region, factor: float, x_factor: float) -> Patch:
    """Shade the area without widening the view."""
    view = axes.dataLim.frozen()
    edges = (factor * np.asarray(region.low), factor * np.asarray(region.high))
    axes.fill_between(x_factor * np.asarray(region.x), *edges, color=SHADE, alpha=0.14, lw=0.0, zorder=0.5)
    axes.dataLim.set(view)
    return _shaded()


def _shaded() -> Patch:
    """Return the legend entry of a shaded area."""
    from matplotlib.patches import Patch

    return Patch(facecolor=SHADE, alpha=0.18)


def band_text(band: Band, unit: str, factor: float) -> str:
    """Return a limit as text for a legend: ``"limit ±800 N·m"``."""
    low, high = (float(f"{factor * edge:.4g}") for edge in (band.low, band.high))
    if low == -high:
        size = f"±{format_value(high)}"
    elif not math.isfinite(low):
        size = f"≤ {format_value(high)}"
    elif not math.isfinite(high):
        size = f"≥ {format_value(low)}"
    else:
        size = f"{format_value(low)} … {format_value(high)}"
    return f"{band.label} {size} {unit}".strip()


def _with_unit(label: str, unit: str) -> str:
    return f"{label} [{unit}]" if unit and label else label or unit


def _plain(text: Any) -> None:
    """Escape a name: a ``$`` in it must not be parsed as a formula."""
    text.set_parse_math(False)
