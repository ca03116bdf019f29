"""A `Figure` as JSON data for pages and for the folder, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.figure import Band, Figure, Line, Panel, Region
from spacectl.reports.arrays import decimate, pack, unpack
from spacectl.reports.page.figures import band_text, line_looks
from spacectl.reports.units import pretty_unit, shown_unit

__all__ = ["figure_from_data", "figure_to_data"]

POINTS = 3000  # largest number of points of a curve: more than a screen can show
PLAIN = ("y_label", "unit", "x_label", "x_unit", "title", "log_x", "log_y", "equal_axes")
DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "markers": "solid"}


def figure_to_data(figure: Figure) -> dict[str, Any]:
    """Return names, styles and curves; a curve of very many points is thinned out but keeps its extremes."""
    panels = []
    for panel in figure.panels:
        units = [_units(panel.x_unit), _units(panel.unit)]
        panels.append(
            {
                **{key: getattr(panel, key) for key in PLAIN},
                "x_units": units[0],
                "y_units": units[1],
                "lines": _lines(panel),
                "bands": [_band(band, panel.unit) for band in panel.bands],
                "regions": [_region(region, panel) for region in panel.regions],
            }
        )
    return {"name": figure.name, "title": figure.title, "caption": figure.caption, "panels": panels}


def figure_from_data(data: Mapping[str, Any]) -> Figure:
    """Return the figure that `figure_to_data` described, with the remaining points."""
    panels = []
    for panel in data["panels"]:
        lines = [
            Line(x=unpack(line["x"]), y=unpack(line["y"]), label=line["label"], style=line["style"])
            for line in panel["lines"]
        ]
        bands = [
            Band(low=_edge(band["low"], -np.inf), high=_edge(band["high"], np.inf), label=band["label"])
            for band in panel["bands"]
        ]
        regions = [
            Region(x=unpack(item["x"]), low=unpack(item["low"]), high=unpack(item["high"]), label=item["label"])
            for item in panel["regions"]
        ]
        plain = {key: panel[key] for key in PLAIN}
        panels.append(Panel(lines=tuple(lines), bands=tuple(bands), regions=tuple(regions), **plain))
    return Figure(name=data["name"], title=data["title"], caption=data["caption"], panels=tuple(panels))


def _lines(panel: Panel) -> list[dict[str, Any]]:
    lines = []
    for line, (colour, dash) in zip(panel.lines, line_looks(panel.lines), strict=True):
        x, y = decimate(np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float), POINTS)
        is_again = line.style == "solid" and dash != "-"  # a reused colour
        dashed = "longdashdot" if is_again else DASHES[line.style]
        look = {"label": line.label, "style": line.style, "dash": dashed, "colour": colour}
        lines.append({**look, "x": pack(x), "y": pack(y)})
    return lines


def _band(band: Band, unit: str) -> dict[str, Any]:
    shown, factor = shown_unit(unit)
    edges = {
        key: float(value) if np.isfinite(value) else None for key, value in (("low", band.low), ("high", band.high))
    }
    return {
        **edges,
        "label": band.label,
        "text": [band_text(band, pretty_unit(unit), 1.0), band_text(band, shown, factor)],
    }


def _region(region: Region, panel: Panel) -> dict[str, Any]:
    """Return the area, cut off well outside the curves so that single precision suffices."""
    values = np.concatenate([np.asarray(line.y, dtype=float) for line in panel.lines] or [np.zeros(1)])
    reach = 3.0 * max(float(np.ptp(values)), 1e-12)
    edges = [
        np.clip(np.asarray(item), values.min() - reach, values.max() + reach) for item in (region.low, region.high)
    ]
    keep = np.unique(np.linspace(0, len(edges[0]) - 1, min(len(edges[0]), POINTS // 4)).astype(int))
    x, low, high = (np.asarray(item)[keep] for item in (region.x, *edges))
    return {"label": region.label, "x": pack(x), "low": pack(low), "high": pack(high)}


def _edge(value: float | None, default: float) -> float:
    return default if value is None else value


def _units(unit: str) -> dict[str, Any]:
    """Return the unit as shown in SI and in degrees, and the factor between them."""
    shown, factor = shown_unit(unit)
    return {"si": pretty_unit(unit), "deg": shown, "factor": factor}
