"""Write antenna.npz, the finite-element model that the study imports: a parabolic reflector of shell triangles.

python -m studies.fem_antenna.make_antenna
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spacectl import FemModel, assemble_shell, save_fem

FILE = Path(__file__).with_name("antenna.npz")
INNER, OUTER, FOCUS = 0.1, 1.5, 1.2  # [m]
RINGS, SPOKES = 6, 14
SKIN, HUB = 0.0015, 0.0008  # [m], thickness of the outer and of the innermost ring of triangles; the latter is flexible


def antenna() -> FemModel:
    """Return the model of ``z = r^2 / (4 focus)`` from the hub's ring to the rim; carbon-fibre skin, quasi-isotropic."""
    r = np.linspace(INNER, OUTER, RINGS)
    angle = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    points = np.array([[a * np.cos(b), a * np.sin(b), a * a / (4.0 * FOCUS)] for a in r for b in angle])
    number = np.arange(RINGS * SPOKES).reshape(RINGS, SPOKES)
    triangles, thickness = [], []
    for i in range(RINGS - 1):
        for j in range(SPOKES):
            a, b = number[i, j], number[i + 1, j]
            c, d = number[i + 1, (j + 1) % SPOKES], number[i, (j + 1) % SPOKES]
            triangles += [[a, b, c], [a, c, d]] if (i + j) % 2 else [[a, b, d], [b, c, d]]
            thickness += [HUB if i == 0 else SKIN] * 2
    return assemble_shell(points, np.array(triangles), thickness=np.array(thickness), E=6.0e10, nu=0.3, density=1600.0)


if __name__ == "__main__":
    save_fem(antenna(), FILE)
