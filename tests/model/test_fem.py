"""Finite-element bodies: equal to the beam they were made from, exact sums, reduction, files, bad input."""

from __future__ import annotations

import sys
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from scipy.linalg import block_diag, eigh

from spacectl import (
    Beam,
    FemModel,
    Free,
    ModalBody,
    ModelError,
    Part,
    Plate,
    Revolute,
    ShapeError,
    System,
    effective_masses,
    form_equations,
    linearize,
    load_fem,
    load_system,
    read_matrix_market,
    read_nastran,
    save_fem,
    save_system,
)
from tests.oracles.flexible.beam_elements import beam_matrices

DATA = {"mass": 12.0, "EA": 1e6, "GJ": 1e4, "EIy": 1.2e4, "EIz": 1.4e4, "polar": 0.02}


@cache
def model(n: int = 20) -> FemModel:
    M, K, X = beam_matrices(10.0, n, **DATA)
    return FemModel(mass=M, stiffness=sparse.csr_array(K), nodes=X + [1.0, 2.0, 3.0], total_mass=12.0)


def beam(**changes) -> Beam:
    fields = {"EI": (1.4e4, 1.2e4), "EA": 1e6, "GJ": 1e4, "rotary": (0.02, 0.0, 0.0), "bending": ("y", "z"), "modes": 3}
    return Beam(name="boom", length=10.0, mass=12.0, **{**fields, **changes})


def body(n: int = 20, **changes) -> ModalBody:
    return ModalBody.from_fem(model(n), **{"name": "boom", "root": 0, "modes": 6, **changes})


def turning(part, rate: float, axis: str) -> np.ndarray:
    """Frequencies of a body on a hub that turns at a prescribed rate [rad/s]."""
    hub = Revolute(name="hub", axis=axis, prescribed=lambda s: rate * s.t)
    eom = form_equations(System(name="spin", parts=(Part(part, joint=hub),)))
    A = linearize(eom, eom.state()).A
    return np.sort(np.linalg.eigvals(A).imag)[len(A) // 2 :]


def test_frequencies_at_rest_are_those_of_the_beam() -> None:
    np.testing.assert_allclose(body().frequencies, np.sort(beam().frequencies), rtol=1e-3)
    fine = body(40).frequencies / np.sort(beam().frequencies) - 1.0
    assert np.max(np.abs(fine)) < 1.1e-4 and np.all(fine > 0.0)  # consistent mass: from above


@pytest.mark.parametrize("axis", ["y", pytest.param("z", marks=pytest.mark.slow)])
def test_rotation_stiffens_the_body_as_it_does_the_beam(axis: str) -> None:
    """Second-order shapes come from the matrices alone; their error falls with the square of the mesh."""
    expected = turning(beam(modes=2), 2.0, axis)
    misses = [np.max(np.abs(turning(body(n, modes=4), 2.0, axis) / expected - 1.0)) for n in (10, 20)]
    assert misses[1] < 1e-3 and misses[0] / misses[1] > 3.5
    none = turning(body(geometric=None, modes=4), 2.0, axis)
    assert np.max(np.abs(none / expected - 1.0)) > 0.1


def test_second_order_shapes_converge_to_those_of_the_beam() -> None:
    """Bending and torsion together: shortening, sideways motion and the twist that bending in two planes makes, at the tip."""
    boom = beam(torsion=1, modes=1, extension=0)
    here = boom.shapes_at(np.array([10.0, 0.0, 0.0]))
    found = ModalBody.from_fem(model(40), name="boom", root=0, modes=12, frequency=115.0)
    own, wanted = (np.sqrt(np.diag(part.elasticity) / np.diag(part.modal_mass)) for part in (found, boom))
    keep = [int(np.argmin(np.abs(own - w))) for w in wanted]
    tip = found.shapes_at(np.array([10.0, 0.0, 0.0]))
    scale = np.array([tip.Phi[1, keep[0]], tip.Phi[2, keep[1]], tip.Psi[0, keep[2]]])
    scale = scale / np.array([here.Phi[1, 0], here.Phi[2, 1], here.Psi[0, 2]])
    square = np.outer(scale, scale)
    G, H = tip.G[:, keep][:, :, keep] / square, tip.H[:, keep][:, :, keep] / square
    np.testing.assert_allclose(G, here.G, atol=4e-3 * np.max(np.abs(here.G)))  # 40 elements
    np.testing.assert_allclose(H, here.H, atol=4e-3 * np.max(np.abs(here.H)))


def test_given_geometric_stiffness_stiffens_alike() -> None:
    """Matrices of a beam under unit accelerations, integrated from its axial forces, in place of the warped stiffness."""
    n, h = 20, 0.5
    x, w = np.polynomial.legendre.leggauss(4)
    s, w = 0.5 * (x + 1.0), 0.5 * w * h
    D = np.array([(-6 * s + 6 * s**2) / h, 1 - 4 * s + 3 * s**2, (6 * s - 6 * s**2) / h, 3 * s**2 - 2 * s])
    tables = {}
    for name, force in (("x", lambda at: -1.2 * (10.0 - at)), ("xx", lambda at: -0.6 * (100.0 - at**2))):
        KG = np.zeros((6 * n + 6, 6 * n + 6))
        for e in range(n):
            part = (D * (w * force(h * (e + s)))) @ D.T
            for rows, sign in (([1, 5, 7, 11], np.ones(4)), ([2, 4, 8, 10], np.array([1.0, -1.0, 1.0, -1.0]))):
                KG[np.ix_(6 * e + np.array(rows), 6 * e + np.array(rows))] += part * np.outer(sign, sign)
        tables[name] = KG
    found = turning(body(geometric=tables, modes=4), 2.0, "y")
    np.testing.assert_allclose(found, turning(beam(modes=2), 2.0, "y"), rtol=1e-3)


def test_mass_properties_and_modal_sums_are_those_of_the_matrices() -> None:
    found, fem = body(interface={"tip": 20}, modes=4), model()
    R = fem.rigid(fem.nodes[0])
    rigid = R.T @ fem.mass @ R
    assert float(found.integrals["mass"]) == pytest.approx(12.0, rel=1e-12)
    np.testing.assert_allclose(np.asarray(found.integrals["first0"]), [60.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(np.asarray(found.integrals["inertia0"])[:3], np.diag(rigid)[3:], rtol=1e-9)
    fem = model(10)
    whole = ModalBody.from_fem(fem, name="boom", root=0, modes=60, geometric=None)
    K, M = (A.toarray()[6:, 6:] for A in (fem.stiffness, fem.mass))
    np.testing.assert_allclose(whole.frequencies, np.sqrt(eigh(K, M, eigvals_only=True)), rtol=1e-6)
    # complete set: effective masses and what the root carries (Schur complement) are the rigid body
    coupling = fem.mass.toarray()[:6, 6:]
    root = fem.mass.toarray()[:6, :6] - coupling @ np.linalg.solve(M, coupling.T)
    sums = effective_masses(whole)
    np.testing.assert_allclose(sums.masses.sum(axis=0) + np.diag(root), sums.rigid, rtol=1e-8)
    assert np.all(sums.share > 0.96) and np.all(effective_masses(found).share < sums.share)


def test_an_interface_keeps_its_static_response_and_its_payload() -> None:
    """With a heavy payload, constraint modes meet the unreduced model that carries it; plain modes do not."""
    fem, inertia = model(), np.diag([200.0, 200.0, 200.0, 50.0, 60.0, 70.0])
    K, M = (A.toarray()[6:, 6:] for A in (fem.stiffness, fem.mass))
    M[-6:, -6:] += inertia
    exact = np.sqrt(eigh(K, M, eigvals_only=True)[:4])

    def lowest(part: ModalBody) -> np.ndarray:
        tip = part.shapes_at(np.array([10.0, 0.0, 0.0]))
        seat = np.vstack([tip.Phi, tip.Psi])
        return np.sqrt(eigh(part.elasticity, part.modal_mass + seat.T @ inertia @ seat, eigvals_only=True)[:4])

    np.testing.assert_allclose(lowest(body(interface={"tip": 20}, modes=2)), exact, rtol=1e-3)
    assert np.max(np.abs(lowest(body(frames={"tip": 20}, modes=8)) / exact - 1.0)) > 1e-2


def test_a_floating_body_has_free_modes() -> None:
    root = body(root=None, modes=4, geometric="matrices")
    # free-free beam: (4.7300, 7.8532)^2 sqrt(EI / m L^4)
    exact = np.outer([4.730040744862704, 7.853204624095838], [1.0, 1.0]) ** 2 * np.sqrt(
        np.array([1.2e4, 1.4e4]) / 1.2e4
    )
    np.testing.assert_allclose(root.frequencies, np.sort(exact.ravel()), rtol=2e-4)
    both = body(root=None, interface={"a": 0, "b": 20}, modes=6)
    assert both.n_modes == 6 + 12 - 6 and np.min(both.frequencies) == pytest.approx(root.frequencies[0], rel=1e-3)
    form_equations(System(name="free", parts=(Part(root, joint=Free()),)))


def bar_of_bricks(n: int) -> FemModel:
    """A slender bar of three-component nodes: six-tetrahedra bricks would be stiff, so rods and braces of springs do."""
    nodes = np.array([[x, y, z] for x in np.linspace(0.0, 4.0, n) for y in (0.0, 0.2) for z in (0.0, 0.2)])
    K, M = np.zeros((3 * len(nodes), 3 * len(nodes))), np.eye(3 * len(nodes)) * 5.0 / len(nodes)
    for i in range(len(nodes)):
        for j in range(i + 1, len(nodes)):
            d = nodes[j] - nodes[i]
            if np.abs(d[0]) < 4.5 / (n - 1):
                e = d / np.linalg.norm(d)
                k = 1e6 * np.outer(e, e) / np.linalg.norm(d)
                for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
                    K[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * k
    return FemModel(mass=M, stiffness=K, nodes=nodes, total_mass=5.0)


def test_groups_of_nodes_without_rotations_hold_and_carry() -> None:
    """A truss of pin-joined rods: root and tip are groups of four; rotation stiffens it like the beam it resembles."""
    truss = bar_of_bricks(21)
    part = ModalBody.from_fem(truss, name="boom", root=(0, 1, 2, 3), frames={"tip": (80, 81, 82, 83)}, modes=4)
    tip = part.shapes_at(np.array([4.0, 0.0, 0.0]))
    assert tip is not None and np.max(np.abs(tip.Psi)) > 0.1  # a rotation, although nodes have none
    at_rest, spun = turning(part, 0.0, "z"), turning(part, 20.0, "z")
    # first flap mode of a rotating beam: omega^2 = omega0^2 + 1.193 rate^2 (Southwell); lag lacks rate^2
    assert spun[0] ** 2 - at_rest[0] ** 2 == pytest.approx(0.193 * 400.0, rel=0.06)
    assert spun[1] ** 2 - at_rest[1] ** 2 == pytest.approx(1.193 * 400.0, rel=0.06)


def test_files_give_the_same_model(tmp_path) -> None:
    fem = model(5)
    for back in (load_fem(save_fem(fem, tmp_path / "boom.npz")), _market(fem, tmp_path), _nastran(fem, tmp_path)):
        assert abs(back.mass - fem.mass).max() < 1e-12 and abs(back.stiffness - fem.stiffness).max() < 1e-6
        np.testing.assert_allclose(back.nodes, fem.nodes, atol=1e-9)
    np.savez(tmp_path / "dense.npz", nodes=fem.nodes, mass=fem.mass.toarray(), stiffness=fem.stiffness.toarray())
    assert abs(load_fem(tmp_path / "dense.npz").mass - fem.mass).max() == 0.0


def _market(fem: FemModel, folder) -> FemModel:
    for name in ("mass", "stiffness"):
        mmwrite(folder / f"{name}.mtx", sparse.coo_matrix(getattr(fem, name)), symmetry="symmetric", precision=17)
    np.savetxt(folder / "nodes.csv", fem.nodes, delimiter=",")
    return read_matrix_market(folder / "mass.mtx", folder / "stiffness.mtx", folder / "nodes.csv")


def _nastran(fem: FemModel, folder) -> FemModel:
    """Grids as cards of small, large and free fields; matrices as punched DMIG cards."""
    lines = ["$ made by hand", "BEGIN BULK"]
    for k, (x, y, z) in enumerate(fem.nodes):
        if k % 3 == 0:
            lines.append(f"GRID    {101 + k:<8d}        {x:<8.4f}{y:<8.4f}{z:<8.4f}")
        elif k % 3 == 1:
            lines += [f"GRID*   {101 + k:<16d}{'':16s}{x:<16.9E}{y:<16.9E}*G{k}", f"*G{k:<6d}{z:<16.9E}"]
        else:
            lines.append(f"GRID,{101 + k},,{x},{y},{z}")
    (folder / "boom.bdf").write_text("\n".join(lines))
    cards = []
    for name, A in (("KAAX", fem.stiffness.toarray()), ("MAAX", fem.mass.toarray())):
        cards.append(f"DMIG    {name:<8s}{0:>8d}{6:>8d}{2:>8d}{0:>8d}")
        for j in range(len(A)):
            cards.append(f"DMIG*   {name:<16s}{101 + j // 6:>16d}{j % 6 + 1:>16d}")
            for i in range(j + 1):
                if A[i, j]:
                    value = f"{A[i, j]:16.9E}".replace("E", "D") if abs(A[i, j]) < 1e-9 else f"{A[i, j]:.15g}"[:16]
                    cards.append(f"*       {101 + i // 6:>16d}{i % 6 + 1:>16d}{value:>16s}")
    (folder / "boom.pch").write_text("\n".join(cards))
    return read_nastran(folder / "boom.bdf", folder / "boom.pch")


def test_matrices_of_an_op2_file_come_through_pynastran(tmp_path, monkeypatch) -> None:
    """With a stand-in for pyNastran's reader: names, order of rows (six a grid, ascending) and the errors are ours."""
    fem = model(5)
    _nastran(fem, tmp_path)

    class Reader:
        def __init__(self, debug=None) -> None:
            self.matrices: dict = {}

        def read_op2(self, name: str) -> None:
            data = {"MAAX": fem.mass, "KAAX": fem.stiffness}
            self.matrices = {key: SimpleNamespace(data=sparse.coo_matrix(A)) for key, A in data.items()}

    module = ModuleType("pyNastran.op2.op2")
    module.OP2 = Reader
    for name in ("pyNastran", "pyNastran.op2"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "pyNastran.op2.op2", module)
    back = read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.op2")
    assert abs(back.stiffness - fem.stiffness).max() == 0.0 and back.ids.tolist() == list(range(101, 107))
    with pytest.raises(ModelError, match="no matrix 'KXX'"):
        read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.op2", stiffness="KXX")
    monkeypatch.setitem(sys.modules, "pyNastran.op2.op2", None)
    with pytest.raises(ModelError, match="not available here"):
        read_nastran(tmp_path / "boom.bdf", tmp_path / "boom.op2")


def test_a_body_of_elements_survives_files(tmp_path) -> None:
    part = body(interface={"tip": 20}, modes=2, damping=0.01)
    system = System(name="boom", parts=(Part(part),))
    assert load_system(save_system(system, tmp_path / "boom.toml")) == system
    assert part.surface_mesh().lines.shape[0] > 0


def changed(**changes) -> FemModel:
    M, K, X = beam_matrices(10.0, 4, **DATA)
    fields = {"mass": M, "stiffness": K, "nodes": X}
    return FemModel(
        **{**fields, **{key: value(fields[key]) if callable(value) else value for key, value in changes.items()}}
    )


def spoiled(A: np.ndarray, i: int, j: int, by: float) -> np.ndarray:
    A = A.copy()
    A[i, j] += by
    return A


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stiffness": lambda K: spoiled(K, 2, 8, 1e3)}, ("stiffness", "not symmetric")),
        ({"stiffness": np.triu}, ("stiffness", "triangle")),
        ({"mass": lambda M: spoiled(M, 7, 7, -9.0)}, ("mass", "indefinite")),
        ({"stiffness": lambda K: -K}, ("stiffness", "indefinite")),
        ({"mass": lambda M: 0.0 * M}, ("mass", "zero")),
        ({"stiffness": lambda K: spoiled(K, 0, 0, 1e6)}, ("rigid translation", "free model")),
        ({"nodes": lambda X: 1000.0 * X}, ("rigid rotation", "units")),
        ({"total_mass": 12000.0}, ("total_mass", "units", "0.001")),
        ({"mass": lambda M: M[:-6, :-6]}, ("rows", "same")),
        ({"nodes": lambda X: X[:-1]}, ("neither three nor six",)),
        ({"dofs": np.zeros((30, 2), dtype=int)}, ("twice",)),
        ({"stiffness": lambda K: K * np.nan}, ("finite",)),
        ({"ids": [1, 2, 3, 4, 4]}, ("different",)),
        ({"triangles": [[0, 1, 9]]}, ("triangles",)),
    ],
)  # fmt: skip
def test_wrong_matrices_are_refused(changes: dict, words: tuple[str, ...]) -> None:
    with pytest.raises((ModelError, ShapeError)) as error:
        changed(**changes)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"interface": {"tip": 21}}, ("tip", "21", "not in the model")),
        ({"interface": {"tip": "end"}}, ("tip", "not in the model")),
        ({"interface": {"tip": 0}}, ("'root'", "'tip'")),
        ({"interface": {"tip": ()}}, ("no nodes",)),
        ({"modes": 500}, ("500", "rows")),
        ({"modes": -1}, ("modes",)),
        ({"frequency": 1.0}, ("no modes remain",)),
        ({"geometric": "none"}, ("geometric", "matrices")),
        ({"geometric": {"q": np.eye(126)}}, ("'q'",)),
        ({"geometric": {"x": np.eye(3)}}, ("geometric['x']",)),
    ],
)  # fmt: skip
def test_a_wrong_reduction_is_refused(changes: dict, words: tuple[str, ...]) -> None:
    with pytest.raises(ModelError) as error:
        body(**changes)
    for word in words:
        assert word in str(error.value)


def test_one_node_without_rotations_is_no_frame() -> None:
    with pytest.raises(ModelError, match="at least three"):
        ModalBody.from_fem(bar_of_bricks(4), name="boom", root=0)


def test_a_loose_part_is_found() -> None:
    M, K, X = beam_matrices(10.0, 6, **DATA)
    two = FemModel(mass=block_diag(M, M), stiffness=block_diag(K, K), nodes=np.vstack([X, X + [0.0, 3.0, 0.0]]))
    for interface in ({}, {"tip": 6}):
        with pytest.raises(ModelError, match="a part is loose"):
            ModalBody.from_fem(two, name="two", root=0, interface=interface, modes=3)


def test_a_large_indefinite_matrix_is_found_by_its_pivots() -> None:
    """Beyond the size at which all eigenvalues are computed."""
    M, K, X = beam_matrices(100.0, 200, **DATA)
    FemModel(mass=M, stiffness=K, nodes=X)
    for changes in (
        {"stiffness": spoiled(K, 600, 600, -0.8 * K[600, 600])},
        {"mass": spoiled(M, 600, 600, -0.95 * M[600, 600])},
    ):
        with pytest.raises(ModelError, match="1 of its pivots"):
            FemModel(**{"mass": M, "stiffness": K, "nodes": X, **changes})


def test_a_wrong_file_is_named(tmp_path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"not an archive")
    np.savez(tmp_path / "empty.npz", nodes=np.zeros((2, 3)))
    (tmp_path / "grid.bdf").write_text("GRID    1       3       0.      0.      0.\n")
    cases = [
        (lambda: load_fem(tmp_path / "bad.npz"), "bad.npz"),
        (lambda: load_fem(tmp_path / "empty.npz"), "mass_row"),
        (lambda: read_matrix_market(tmp_path / "a.mtx", tmp_path / "b.mtx", [[0, 0, 0]]), "a.mtx"),
        (lambda: read_nastran(tmp_path / "grid.bdf", tmp_path / "a.pch"), "coordinate system"),
    ]
    for make, word in cases:
        with pytest.raises(ModelError, match=word):
            make()


def test_effective_masses_of_a_plate_grow_to_its_mass() -> None:
    def share(n: int) -> np.ndarray:
        panel = Plate(name="panel", length=1.0, width=0.5, thickness=0.01, mass=2.0, E=7e10, modes=n)
        return effective_masses(panel).share

    few, many = share(2), share(14)
    assert np.all(many >= few - 1e-12) and many[2] > 0.9 and np.all(many <= 1.0 + 1e-9)
    assert few[0] < 1e-12  # transverse modes carry nothing along the plate


@pytest.mark.parametrize("damage", ["cut", "flipped", "no zip", "one array", "text inside"])
def test_a_damaged_archive_raises(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "model.npz"
    np.savez_compressed(file, nodes=np.zeros((4, 3)), mass=np.eye(12), stiffness=np.eye(12))
    data = bytearray(file.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[60] ^= 0xFF
    elif damage == "no zip":
        data = bytearray(b"PK\x03\x04" + bytes(100))
    elif damage == "one array":
        with file.open("wb") as target:
            np.save(target, np.zeros(3))
        data = bytearray(file.read_bytes())
    if damage == "text inside":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("nodes", "no numbers")
    else:
        file.write_bytes(data)
    with pytest.raises(ModelError, match="'.*model.npz': "):
        load_fem(file)
