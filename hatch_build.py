"""Build hook: compiles the kernels that depend on no model into the wheel.

Editable installations and machines without a compiler get none: there the kernels are compiled on first use.
"""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from spacectl.codegen.compiler import find_compiler, run_compiler  # noqa: E402
from spacectl.codegen.kernels import FORMAT, Kernel, find_variants, list_kernels, platform_name  # noqa: E402
from spacectl.codegen.private_files import sha256_of  # noqa: E402
from spacectl.core.errors import SolverError  # noqa: E402


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compile every kernel in every variant of this platform, with a manifest of texts, sizes and hashes."""

    PLUGIN_NAME = "custom"
    folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the libraries to a wheel; an editable one, or one built without a compiler, stays as it is."""
        if self.target_name != "wheel" or version == "editable" or find_compiler() is None:
            return
        folder = self.folder = Path(tempfile.mkdtemp(prefix="spacectl-kernels-"))
        kernels = {}
        for name, kernel in list_kernels().items():
            files = self._compile(kernel, folder)
            if files:
                kernels[name] = {"text": kernel.text_hash, "files": files}
        if not kernels:
            return
        manifest = {
            "format": FORMAT,
            "platform": platform_name(),
            "python": sysconfig.get_config_var("SOABI"),
            "kernels": kernels,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        build_data["force_include"] |= {
            str(path): f"spacectl/_kernels/{path.name}" for path in folder.iterdir() if path.is_file()
        }
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder in which the kernels were compiled."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _compile(self, kernel: Kernel, folder: Path) -> dict[str, dict[str, Any]]:
        """Compile a kernel; return name, size and sha256 of its library by variant."""
        compiler = find_compiler()
        assert compiler is not None
        found = {}
        variants = find_variants() if kernel.is_tuned else dict(list(find_variants().items())[:1])
        for variant, march in variants.items():
            build = folder / f"{kernel.name}-{variant}"
            build.mkdir()
            target = f"{kernel.name}-{variant}.so"
            try:
                run_compiler(
                    compiler,
                    build,
                    kernel.texts,
                    name=kernel.name,
                    flags=(*kernel.options, *self._headers(kernel), *march),
                    target=target,
                )
            except SolverError as error:
                self.app.display_warning(f"{error}; it will be compiled on first use")
                continue
            path = (build / target).rename(folder / target)
            found[variant] = {"name": target, "size": path.stat().st_size, "sha256": sha256_of(path)}
        return found

    @staticmethod
    def _headers(kernel: Kernel) -> tuple[str, ...]:
        """Return where the headers of Python and numpy are, for a module of Python."""
        if not kernel.needs_python:
            return ()
        import numpy as np

        folders = [sysconfig.get_paths()[key] for key in ("include", "platinclude")] + [np.get_include()]
        own = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
        return (*(f"-I{folder}" for folder in dict.fromkeys(folders)), *own)
