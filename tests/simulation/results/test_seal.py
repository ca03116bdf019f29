"""Stored results are verified: what has changed since it was written is found when it is read."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from spacectl import (
    ModelError,
    design_pd,
    form_equations,
    library,
    load_batch,
    load_simulation,
    simulate,
    simulate_many,
)
from spacectl.core.studies.study import StudyResult
from spacectl.reports.folder.folder import write_study_folder
from spacectl.reports.page.summary import StudyRecord
from spacectl.simulation.results.files import SEAL, dataset_sha256


@pytest.fixture(scope="module")
def sim():
    eom = form_equations(library.planar_arm())
    return simulate(eom, design_pd(eom, kp=2.0, kd=1.0), x0={"joint1": 0.3}, t_span=(0.0, 1.0), grid=5)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a reader that fails half way
def test_a_flipped_bit_is_found_wherever_it_matters(sim, tmp_path: Path) -> None:
    """Every changed bit either raises, or does not affect what is read (unused bytes of the format)."""
    file = tmp_path / "sim.nc"
    sim.save(file)
    data = file.read_bytes()
    numbers = np.asarray(sim.x).tobytes()
    places = [data.index(numbers) + k for k in (0, 7, len(numbers) // 2, len(numbers) - 1)]
    places += np.random.default_rng(0).integers(0, len(data), 6).tolist()
    n_told = 0
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1
        file.write_bytes(changed)
        try:
            back = load_simulation(file)
        except ModelError as error:
            n_told += 1
            assert "sim.nc: " in str(error)
        else:
            assert place not in places[:4]
            assert back.dataset.identical(sim.dataset) and back.outcome == sim.outcome
    assert n_told >= 4


def test_a_changed_value_raises_as_damage(sim, tmp_path: Path) -> None:
    sim.save(tmp_path / "sim.nc")
    with h5py.File(tmp_path / "sim.nc", "r+") as file:
        file["x"][2, 0] += 1e-12
    with pytest.raises(ModelError, match="damaged: its content is not what was written"):
        load_simulation(tmp_path / "sim.nc")


def test_a_file_without_a_checksum_is_read(sim, tmp_path: Path) -> None:
    sim.save(tmp_path / "sim.nc")
    with h5py.File(tmp_path / "sim.nc", "r+") as file:
        del file.attrs[SEAL]
    back = load_simulation(tmp_path / "sim.nc")
    assert back.dataset.identical(sim.dataset) and SEAL not in back.dataset.attrs


def test_groups_and_batches_are_sealed_too(sim, tmp_path: Path) -> None:
    eom = form_equations(library.planar_arm())
    batch = simulate_many(eom, x0=np.zeros((2, 4)), t_span=(0.0, 1.0), grid=3)
    result = StudyResult(metrics={}, simulations={"one": sim, "many": batch})
    folder = write_study_folder(result, tmp_path / "out", record=StudyRecord(name="study"))
    with h5py.File(folder / "result.nc", "r+") as file:
        assert SEAL in file["one"].attrs and SEAL in file["many"].attrs
        file["many"]["x_end"][1, 0] = 0.5
    assert load_simulation(folder / "result.nc", group="one").outcome == sim.outcome
    with pytest.raises(ModelError, match="damaged"):
        load_batch(folder / "result.nc", group="many")


def test_the_checksum_says_what_the_data_say(sim) -> None:
    other = sim.dataset.copy(deep=True)
    assert dataset_sha256(other) == dataset_sha256(sim.dataset)
    assert dataset_sha256(other.assign_attrs(method="rk45")) != dataset_sha256(sim.dataset)
    assert dataset_sha256(other.rename(u="v")) != dataset_sha256(sim.dataset)
    assert dataset_sha256(other.assign_coords(state=list(reversed(other["state"].values)))) != dataset_sha256(
        sim.dataset
    )
