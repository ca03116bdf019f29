"""A library of ready systems, one file each: for examples, tests and as starting points for studies."""

from spacectl.model.library.constrained.flexible_four_bar import flexible_four_bar
from spacectl.model.library.constrained.four_bar import four_bar
from spacectl.model.library.constrained.momentum_flyer import momentum_flyer
from spacectl.model.library.constrained.redundant_four_bar import redundant_four_bar
from spacectl.model.library.constrained.rolling_disc import rolling_disc
from spacectl.model.library.constrained.skate import skate
from spacectl.model.library.constrained.slider_crank import slider_crank
from spacectl.model.library.constrained.spatial_four_bar import spatial_four_bar
from spacectl.model.library.constrained.two_arm_flyer import two_arm_flyer
from spacectl.model.library.docking.docking_probe import docking_probe
from spacectl.model.library.docking.docking_ring import docking_ring
from spacectl.model.library.loops.differential_wrist import differential_wrist
from spacectl.model.library.loops.five_bar import five_bar
from spacectl.model.library.loops.four_bar_chain import four_bar_chain
from spacectl.model.library.loops.geared_chain import geared_chain
from spacectl.model.library.loops.kept_chain import kept_chain
from spacectl.model.library.maintained.flexible_line_arm import flexible_line_arm
from spacectl.model.library.maintained.guided_arm import guided_arm
from spacectl.model.library.maintained.level_arm import level_arm
from spacectl.model.library.maintained.line_arm import line_arm
from spacectl.model.library.maintained.prescribed_arm import prescribed_arm
from spacectl.model.library.trees.chain import chain
from spacectl.model.library.trees.free_flyer_arm import free_flyer_arm
from spacectl.model.library.trees.orbiting_body import orbiting_body
from spacectl.model.library.trees.pendulum import pendulum
from spacectl.model.library.trees.planar_arm import planar_arm
from spacectl.model.library.trees.retrieval_arm import retrieval_arm
from spacectl.model.library.trees.spherical_pendulum import spherical_pendulum
from spacectl.model.library.trees.tether_orbiter import TetherOrbiter
from spacectl.model.library.trees.wheel_spacecraft import wheel_spacecraft

__all__ = [
    "CONSTRAINED",
    "LIBRARY",
    "LOOPS",
    "TetherOrbiter",
    "chain",
    "differential_wrist",
    "docking_probe",
    "docking_ring",
    "five_bar",
    "flexible_four_bar",
    "flexible_line_arm",
    "four_bar",
    "four_bar_chain",
    "free_flyer_arm",
    "geared_chain",
    "guided_arm",
    "kept_chain",
    "level_arm",
    "line_arm",
    "momentum_flyer",
    "orbiting_body",
    "pendulum",
    "planar_arm",
    "prescribed_arm",
    "redundant_four_bar",
    "retrieval_arm",
    "rolling_disc",
    "skate",
    "slider_crank",
    "spatial_four_bar",
    "spherical_pendulum",
    "two_arm_flyer",
    "wheel_spacecraft",
]

#: Trees by name, at their default parameters: cross-formulation tests run over them.
LIBRARY = {
    system.__name__: system
    for system in (
        pendulum,
        spherical_pendulum,
        planar_arm,
        orbiting_body,
        wheel_spacecraft,
        free_flyer_arm,
        retrieval_arm,
    )
}
#: Systems with constraints by name; all satisfy them at rest.
CONSTRAINED = {
    system.__name__: system
    for system in (
        four_bar,
        redundant_four_bar,
        slider_crank,
        spatial_four_bar,
        rolling_disc,
        skate,
        two_arm_flyer,
        flexible_four_bar,
        momentum_flyer,
        level_arm,
        line_arm,
        prescribed_arm,
        guided_arm,
        flexible_line_arm,
    )
}
#: Chains and mechanisms of local loops by name; all satisfy their constraints at rest.
LOOPS = {system.__name__: system for system in (geared_chain, four_bar_chain, five_bar, differential_wrist, kept_chain)}
