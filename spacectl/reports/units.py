"""Display of numbers and units: radians as degrees, powers as superscripts, six digits (three for tiny numbers).

All other packages use SI and radians; only `reports` converts.
"""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["format_value", "metric_unit", "pretty_powers", "pretty_unit", "shown_unit"]

NOISE = 1e-7  # smaller numbers are mostly errors of rounding or tolerances, displayed with three digits
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?![\w.]*\w)")

#: Endings of metric names that give the unit; longer ones first.
_ENDINGS = {
    "_rad_s2": "rad/s^2", "_m_s2": "m/s^2", "_rad_s": "rad/s", "_kg_m2": "kg m^2", "_n_m_s": "N m s", "_m_s": "m/s",
    "_n_m": "N m", "_nm": "N m", "_nms": "N m s", "_rad": "rad", "_deg": "deg", "_hz": "Hz", "_percent": "%", "_ms": "ms",
    "_us": "us", "_kg": "kg", "_s": "s", "_m": "m", "_n": "N", "_j": "J", "_time": "s", "_duration": "s", "_torque": "N m",
}  # fmt: skip


def pretty_unit(unit: str) -> str:
    """Return a unit as shown: ``"N m"`` becomes ``"N·m"``, ``"m/s^2"`` becomes ``"m/s²"``, ``"1"`` nothing.

    Examples
    --------
    >>> pretty_unit("kg m^2")
    'kg·m²'
    """
    if unit in ("", "1"):
        return ""
    pieces = unit.replace(" ", "·").split("^")
    text = pieces[0]
    for piece in pieces[1:]:
        digits = len(piece) - len(piece.lstrip("-0123456789"))
        text += piece[:digits].translate(_SUPERSCRIPTS) + piece[digits:]
    return text


def pretty_powers(text: Any) -> str:
    """Return a text with powers of ten in typographic form.

    Examples
    --------
    >>> pretty_powers("within 1.1e-13 m of 2e+06 m")
    'within 1.1 × 10⁻¹³ m of 2 × 10⁶ m'
    """
    return _POWER.sub(lambda found: f"{found[1]} × 10{str(int(found[2])).translate(_SUPERSCRIPTS)}", str(text))


def shown_unit(unit: str) -> tuple[str, float]:
    """Return the display unit of a quantity, and the factor from SI to it.

    Angles and their rates become degrees; all else is unchanged.

    Examples
    --------
    >>> shown_unit("rad/s")[0]
    'deg/s'
    >>> shown_unit("N m")
    ('N·m', 1.0)
    """
    if unit == "rad" or unit.startswith("rad/"):
        return pretty_unit("deg" + unit[3:]), 180.0 / math.pi
    return pretty_unit(unit), 1.0


def metric_unit(name: str) -> str:
    """Return the unit of a metric by the ending of its name, or empty if the name does not give it.

    Examples
    --------
    >>> metric_unit("peak_torque_Nm"), metric_unit("settling_time"), metric_unit("speed_ratio")
    ('N m', 's', '')
    """
    text = "_" + name.lower()
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if text.endswith(ending):
            return _ENDINGS[ending]
    return ""


def format_value(value: Any) -> str:
    """Return a number, text, boolean, None or list as shown in a table.

    Examples
    --------
    >>> format_value(0.000012345678), format_value(True), format_value([1.0, 2.5])
    ('1.23457 × 10⁻⁵', 'yes', '1, 2.5')
    """
    if value is None:
        return "not available"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _format_float(value)
    if hasattr(value, "tolist"):
        return format_value(value.tolist())
    if isinstance(value, (list, tuple)):
        return _format_list(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {format_value(item)}" for key, item in value.items())
    return str(value)


def _format_list(values: Any) -> str:
    """Return the first entries of many, with rows in brackets and rounding errors shown as zero."""
    most = 4 if any(isinstance(item, (list, tuple)) for item in values) else 6
    shown = list(values) if len(values) <= (6 if most == 4 else 12) else list(values)[:most]
    rest = f", … ({len(values)} values)" if len(shown) < len(values) else ""
    return (
        ", ".join(f"({_format_row(item)})" if isinstance(item, (list, tuple)) else format_value(item) for item in shown)
        + rest
    )


def _format_row(row: Any) -> str:
    numbers = [abs(item) for item in row if isinstance(item, float) and math.isfinite(item)]
    floor = 1e-10 * max(numbers, default=0.0)
    cleaned = [float(f"{item:.5g}") if abs(item) > floor else 0.0 for item in row] if len(numbers) == len(row) else row
    return format_value(list(cleaned))


def _format_float(value: float) -> str:
    text = f"{value:.6g}" if abs(value) >= NOISE else f"{value:.3g}"
    if "e" not in text:
        return text.replace("-", "\N{MINUS SIGN}")
    mantissa, exponent = text.split("e")
    power = str(int(exponent)).translate(_SUPERSCRIPTS)
    return f"{mantissa.replace('-', chr(0x2212))} × 10{power}"
