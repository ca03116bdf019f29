"""Planted faults in core, spatial and codegen."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

LIBRARY_TESTS = "codegen/test_library.py codegen/test_library_owner.py"

MUTANTS = (
    # core
    Mutant(
        "core.trajectory:_between",
        "3.0 * (b - a) - 2.0 * da - db",
        "3.0 * (b - a) - da - db",
        "core/test_trajectory.py",
    ),
    Mutant(
        "core.trajectory:Trajectory._evaluate",
        "out = np.where(inside[:, None], out, 0.0)",
        "pass",
        "core/test_trajectory.py",
    ),
    Mutant(
        "core.trajectory:Trajectory._evaluate",
        'side="right") - 1\n            out',
        'side="left") - 1\n            out',
        "core/test_trajectory.py",
    ),
    Mutant("core.array:Array.__init__", "array += 0.0", "array *= 1.0", "core/test_array.py"),
    Mutant("core.array:Array.__init__", "write=False", "write=True", "core/test_array.py"),
    Mutant("core.labels:Labels.vector", "np.array(default, dtype=float)", "np.asarray(default)", "core/test_labels.py"),
    Mutant(
        "core.studies.requirement:Requirement.judge", "all(_RELATIONS", "any(_RELATIONS", "core/test_requirement.py"
    ),
    Mutant(
        "core.parameters:Parameters.check",
        "self._is_fixed & ",
        "",
        "core/test_parameters.py dynamics/waist/test_equations.py",
    ),
    Mutant("core.parameters:Parameters.taken_from", "other.get(name, p)", "other.get(name)", "core/test_parameters.py"),
    # spatial
    Mutant(
        "spatial.rotation:quaternion_rate",
        "w * omega + cross(e, omega)",
        "w * omega - cross(e, omega)",
        "spatial/test_rotation.py",
    ),
    Mutant("spatial.rotation:mrp_rate", "2.0 * outer(sigma, sigma)", "outer(sigma, sigma)", "spatial/test_rotation.py"),
    Mutant("spatial.rotation:quaternion_from_rotation", "q if q[0] >= 0.0 else -q", "q", "spatial/test_rotation.py"),
    Mutant("spatial.inertia:_pulled_wrench", "cross(p, force)", "cross(force, p)", "spatial/test_motion.py"),
    Mutant(
        "spatial.inertia:cross_force",
        "cross(w, wrench[0:3]) + cross(v, wrench[3:6])",
        "cross(w, wrench[0:3])",
        "spatial/test_motion.py",
    ),
    Mutant("spatial.inertia:Inertia.seen_from", "2.0 * dot(p, h)", "dot(p, h)", "spatial/test_motion.py"),
    Mutant("spatial.inertia:_bias_wrench", "+ cross(first, turning)", "", "spatial/test_motion.py"),
    Mutant(
        "spatial.inertia:ArticulatedInertia.seen_from",
        "+ right[j][i]",
        "",
        "spatial/test_motion.py dynamics/recursion/test_articulated.py",
    ),
    # codegen
    Mutant("codegen.private_files:check_ours", "status.st_uid != os.getuid()", "False", LIBRARY_TESTS),
    Mutant("codegen.private_files:check_ours", "status.st_mode & 0o022", "0", LIBRARY_TESTS),
    Mutant(
        "codegen.library:_verified",
        "(_FORMAT, key, size, sha256_of(library))",
        "(_FORMAT, key, size, expected[3])",
        LIBRARY_TESTS,
    ),
    Mutant("codegen.kernels:_load_packaged", 'entry.get("text") != kernel.text_hash or', "", "codegen/test_kernels.py"),
    Mutant("codegen.kernels:_load_packaged", '!= (noted["size"], noted["sha256"])', "== ()", "codegen/test_kernels.py"),
    Mutant("codegen.kernels:_require_private", "status.st_mode & 0o002", "0", "codegen/test_kernels.py"),
    Mutant("codegen.library:_key", "identity, flags,", "identity,", LIBRARY_TESTS),
    Mutant(
        "codegen.emit_c:_number",
        "float(value).hex()",
        "str(float(f'{value:.9g}').hex())",
        "codegen/test_chunks.py codegen/test_linear_maps.py simulation/driver/test_tiers.py",
    ),
    Mutant(
        "codegen.chunks:_places",
        "free.extend(leaving[c])",
        "free.extend(leaving[min(c + 1, len(chunks) - 1)])",
        "codegen/test_chunks.py",
    ),
    Mutant(
        "codegen.straight_line:LinearMap.height",
        "-(-len(self.rows) // 4) * 4",
        "len(self.rows) // 4 * 4 + 4 * (len(self.rows) < 4)",
        "codegen/test_linear_maps.py",
    ),
    Mutant(
        "codegen.finite_constants:require_finite_constants",
        'if not is_scalar and not part.is_a("MXFunction"): continue',
        "if not is_scalar: continue",
        "codegen/test_finite_constants.py",
    ),
    Mutant("codegen/extension.c:sc_is_plain", "PyArray_ISCARRAY_RO(array)", "1", "codegen/test_extension.py"),
)
