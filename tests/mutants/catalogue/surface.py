"""Planted faults in reports, interop and the command line."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

MUTANTS = (
    # reports
    Mutant(
        "reports.page.summaries:_ratio",
        "-pole.real / abs(pole)",
        "-pole.real / abs(pole.imag)",
        "reports/test_summaries.py",
    ),
    Mutant("reports.page.summaries:_hertz", "abs(pole)", "abs(pole.imag)", "reports/test_summaries.py"),
    Mutant("reports.page.summaries:_gains", "1e-10 *", "1e-1 *", "reports/test_summaries.py"),
    Mutant(
        "reports.units:shown_unit",
        "180.0 / math.pi",
        "math.pi / 180.0",
        "reports/test_figures.py reports/test_page.py reports/test_histories.py",
    ),
    Mutant(
        "reports.units:_format_float",
        "abs(value) >= NOISE",
        "abs(value) >= 0.0",
        "reports/test_page.py reports/test_summaries.py",
    ),
    Mutant(
        "reports.scene.framing:find_camera",
        "max(float(need.max()), 1e-3)",
        "max(float(need.min()), 1e-3)",
        "reports/test_scene.py",
    ),
    Mutant("reports.folder.atomic:check_replaceable", "if file not in known:", "if False:", "reports/test_folder.py"),
    Mutant(
        "reports.folder.atomic:file_hashes",
        "path.is_file() and path.name != RECORD",
        "path.is_file()",
        "reports/test_folder.py",
    ),
    # interop
    Mutant(
        "interop.control:to_nonlinear_control",
        "eom.x_dot(t, x, np.clip(u, low, high) if clip else u, vector)",
        "eom.x_dot(t, x, u, vector)",
        "interop/test_control.py",
    ),
    Mutant(
        "interop.control:_Numbers._vector",
        "known.vector(changes, self.default)",
        "known.vector(changes)",
        "interop/test_control.py",
    ),
    Mutant("interop.control:_Numbers.__call__", "params.get(key) is not value", "False", "interop/test_control.py"),
    # command line
    Mutant(
        "cli.settings:read_settings",
        '{**content.get("parameters", {}), **parse_settings(list(settings))}',
        '{**parse_settings(list(settings)), **content.get("parameters", {})}',
        "cli/test_settings.py",
    ),
    Mutant("cli.settings:parse_settings", "if key in found:", "if False:", "cli/test_settings.py"),
    Mutant("cli.points:PointJournal.find", 'row is None or row["error"]', "row is None", "cli/test_sweep.py"),
    Mutant("cli.points:PointJournal._read", 'json.loads(first) != {"sweep": self._key}', "False", "cli/test_sweep.py"),
    Mutant(
        "cli.metrics:metrics_command",
        'any("error" in entry for entry in entries)',
        'all("error" in entry for entry in entries)',
        "cli/test_metrics.py",
    ),
)
