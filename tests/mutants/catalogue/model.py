"""Planted faults in the model."""

from __future__ import annotations

from tests.mutants.anchors import Mutant

TETHERS = "dynamics/tree/test_tether_damping.py dynamics/tree/test_tethers.py"
ORBITS = "dynamics/tree/test_gravity_gradient.py"

MUTANTS = (
    Mutant(
        "model.bodies.rigid:_check_moments",
        "principal[2] - principal[0] - principal[1]",
        "principal[2] - principal[0] - 2.0 * principal[1]",
        "model/test_bad_input.py",
    ),
    Mutant(
        "model.bodies.rigid:RigidBody.mass_properties",
        "[i[4], i[5], i[2]]",
        "[i[4], i[5], i[1]]",
        "dynamics/tree/test_point_cloud.py",
    ),
    Mutant(
        "model.bodies.beam.shapes:mode_shapes",
        "inertia * np.outer(at_tip, at_tip)",
        "0.5 * inertia * np.outer(at_tip, at_tip)",
        "model/test_beam.py",
    ),
    Mutant(
        "model.bodies.beam.shapes:bending_space",
        "_gram(turn + shear, weights * tension)",
        "_gram(turn, weights * tension)",
        "model/test_beam.py model/test_beam_fields.py",
    ),
    Mutant(
        "model.environment.orbit_frame:OrbitFrame.gravity_wrench",
        "3.0 * dot(radial, rho)",
        "2.0 * dot(radial, rho)",
        ORBITS,
    ),
    Mutant(
        "model.environment.central_gravity:CentralGravity.gravity_wrench",
        "(5.0 * dot(r, Ir) / r2 - trace)",
        "(5.0 * dot(r, Ir) / r2)",
        ORBITS,
    ),
    Mutant("model.environment.central_gravity:CentralGravity.potential", "0.5 * (trace", "(trace", ORBITS),
    Mutant(
        "model.joints.universal:Universal.bias",
        'cross(self._first_in_F(q, n), n["second"])',
        'cross(n["second"], self._first_in_F(q, n))',
        "dynamics/tree/test_joints.py dynamics/tree/test_point_cloud.py",
    ),
    Mutant(
        "model.joints.universal:Universal.effort_wrenches",
        "(first - c * second) / (1.0 - c * c)",
        "first",
        "dynamics/partitioning/test_loop_motors.py",
    ),
    Mutant("model.tethers.elastic_tether:ElasticTether._pulls", "if k == 0:", "if k >= 0:", TETHERS),
    Mutant("model.tethers.elastic_tether:ElasticTether._pulls", "length_dot * (1.0 + strain)", "length_dot", TETHERS),
    Mutant("model.tethers.elastic_tether:ElasticTether._pulls", "speed / (share * length)", "speed / length", TETHERS),
    Mutant("model.tethers.elastic_tether:ElasticTether.forces", "if k == 0:", "if k < 0:", TETHERS),
    Mutant("model.tethers.line:LineRod.mass_properties", "12.0", "3.0", TETHERS),
    Mutant(
        "model.elements.spring_damper:SpringDamper._pull",
        "- length_dot",
        "",
        "dynamics/tree/test_springs.py dynamics/tree/test_tethers.py",
    ),
    Mutant(
        "model.elements.spring_damper:SpringDamper.potential",
        '0.25 * n.get("cubic", 0.0) * stretch**4',
        '0.5 * n.get("cubic", 0.0) * stretch**4',
        "dynamics/tree/test_springs.py",
    ),
    Mutant(
        "model.elements.drive_laws:close_gap",
        "0.5 * (above + up) - 0.5 * (below + down)",
        "0.5 * (above + up) + 0.5 * (below + down)",
        "dynamics/tree/test_drive.py model/test_drive.py",
    ),
    Mutant(
        "model.elements.drive_laws:HardeningSpring.energy",
        "at_corner * beyond",
        "0.0 * beyond",
        "dynamics/tree/test_drive.py model/test_drive.py",
    ),
)
