"""The scripts that a page carries: plotly and k3d from the installed packages, compressed, and our own.

Nothing is loaded from a network. k3d's style sheet names font files beside the page; these addresses are removed (the
fonts themselves are inside), so that a page asks for nothing.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError

__all__ = ["compressed", "compressed_json", "k3d_source", "own_script", "plotly_source"]

_FONT_FILES = re.compile(r',url\(fonts/[^)]*\) format\("[a-z0-9]+"\)')
OWN = ("decode.js", "plots.js", "replay.js", "page.js")


def compressed(data: bytes) -> str:
    """gzip and base64; the page's script undoes it. Equal data gives equal text."""
    return base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")


def compressed_json(data: Any) -> str:
    """Return JSON data in the same form."""
    return compressed(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8"))


@cache
def plotly_source() -> str:
    """plotly.js of the installed plotly, compressed."""
    return compressed((_package("plotly") / "package_data" / "plotly.min.js").read_bytes())


@cache
def k3d_source() -> str:
    """k3d's stand-alone script of the installed k3d, compressed."""
    text = (_package("k3d") / "static" / "standalone.js").read_text(encoding="utf-8")
    return compressed(_FONT_FILES.sub("", text).encode("utf-8"))


def own_script() -> str:
    """Our scripts, one after the other."""
    folder = Path(__file__).with_name("templates")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in OWN)


def _package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ModelError(f"report: the package '{name}' is not installed; pip install {name}")
    return Path(found.origin).parent
