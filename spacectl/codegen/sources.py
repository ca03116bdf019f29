"""C sources that lie beside the Python modules of a package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["c_source"]


@cache
def c_source(package: str, *names: str) -> str:
    """Return the text of C files of a package, one behind the other.

    Parameters
    ----------
    package : str
        Dotted name of the package that owns the files, such as ``"spacectl.dynamics.recursion"``.
    *names : str
        File names, such as ``"factor.h"``.
    """
    return "\n".join((files(package) / name).read_text(encoding="utf-8") for name in names)
