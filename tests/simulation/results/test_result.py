"""`Simulation`: labels, access, provenance, and files that come back as they were."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

from spacectl.core.control_law import make_law
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.outcome import Status
from spacectl.simulation.events import Guard
from spacectl.simulation.load import load_simulation
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import integrator, make_plant, pendulum


def rich_run(**options):
    eom = pendulum()
    law = make_law(
        lambda s: (-5.0 * s["angle"] - s["sum"], s["angle"]),
        name="Integral ü",
        states=eom.labels.x,
        inputs=eom.labels.u,
        memory={"sum": 0.0},
    )
    guards = [Guard(name="down through 0.2", expression=lambda s: s["angle"] - 0.2, direction=-1, is_terminal=False)]
    options = {"atol": [1e-9, 1e-8], "p": {"k": 9.0}, "grid": 31, **options}
    return simulate(eom, law, x0={"angle": 0.8}, t_span=(0.0, 3.0), guards=guards, **options)


def test_histories_are_labelled():
    sim = rich_run()
    assert sim.dataset["x"].dims == ("time", "state")
    assert list(sim.dataset["state"].values) == ["angle", "rate"]
    assert list(sim.dataset["memory_unit"].values) == ["1"]
    np.testing.assert_array_equal(sim["angle"], sim.x[:, 0])
    np.testing.assert_array_equal(sim["torque"], sim.u[:, 0])
    np.testing.assert_array_equal(sim["height"], sim.y[:, 0])
    np.testing.assert_array_equal(sim["sum"], sim.z[:, 0])
    np.testing.assert_array_equal(sim.column("u_commanded", "torque"), sim.u_commanded[:, 0])
    np.testing.assert_array_equal(sim.dataset["x"].sel(state="rate"), sim["rate"])
    np.testing.assert_allclose(sim["height"], 1.0 - np.cos(sim["angle"]), rtol=1e-14, atol=1e-15)
    assert sim.x.shape == (31, 2)
    assert "31 times" in repr(sim)


def test_units_come_from_the_equations():
    eom = integrator()
    object.__setattr__(eom.labels, "q", Labels(("level",), ("m",), "state"))
    assert list(simulate(eom, t_span=(0.0, 1.0)).dataset["state_unit"].values) == ["m"]


def test_what_a_system_does_not_have_is_empty_and_not_stored():
    sim = simulate(make_plant(lambda s: -s["x"], ("x",)), x0=[1.0], t_span=(0.0, 1.0))
    assert set(sim.dataset.data_vars) == {"x"}
    assert sim.u.shape == sim.y.shape == sim.z.shape == (201, 0)
    assert sim.events == ()


def test_result_cannot_be_changed():
    sim = rich_run()
    with pytest.raises(ValueError, match="read-only"):
        sim.x[0, 0] = 1.0
    with pytest.raises(AttributeError):
        sim.outcome = None


def test_equal_runs_are_equal_and_say_where_they_come_from():
    a, b = rich_run(), rich_run()
    assert a.dataset.identical(b.dataset)
    attributes = a.dataset.attrs
    assert attributes["content_hash"] == "0" * 64
    assert attributes["structure_hash"] == "1" * 64
    assert attributes["law"] == "Integral ü"
    assert (attributes["method"], attributes["driver"], attributes["rtol"]) == ("dop853", "native", 1e-9)
    assert '"casadi"' in attributes["versions"]
    assert a.dataset["p"].values[0] == 9.0
    assert a.outcome.stats["seconds"] > 0.0
    assert not a.dataset.identical(rich_run(p={"k": 9.1}).dataset)


def test_netcdf_round_trip_keeps_everything(tmp_path):
    sim = rich_run()
    path = tmp_path / "run.nc"
    sim.save(path)
    back = load_simulation(path)
    assert isinstance(back, Simulation)
    assert back.dataset.identical(sim.dataset)
    assert {key: type(value) for key, value in back.dataset.attrs.items()} == {
        key: type(value) for key, value in sim.dataset.attrs.items()
    }
    assert back.outcome == sim.outcome
    assert back.events == sim.events
    assert len(back.events) >= 1
    assert os.listdir(tmp_path) == ["run.nc"]
    back.save(path)  # over the old one
    assert load_simulation(path).dataset.identical(sim.dataset)


def test_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    sim = rich_run()
    path = tmp_path / "run.nc"
    sim.save(path)
    before = path.read_bytes()

    def fail(self, target, **options):
        with open(target, "w") as file:
            file.write("half")
        raise OSError("no space left")

    monkeypatch.setattr(type(sim.dataset), "to_netcdf", fail)
    with pytest.raises(OSError, match="no space"):
        sim.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.nc"]


def ended_process() -> int:
    """Number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.skipif(os.name != "posix", reason="elsewhere unfinished files are removed after a day")
def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path, monkeypatch):
    sim, path = rich_run(), tmp_path / "run.nc"
    names = []
    write = type(sim.dataset).to_netcdf
    monkeypatch.setattr(type(sim.dataset), "to_netcdf", lambda *a, **o: (names.append(a[1]), write(*a, **o)))
    sim.save(path)
    (used,) = names
    assert f".{os.getpid()}-" in used  # unfinished files name their process
    left = tmp_path / os.path.basename(used).replace(f".{os.getpid()}-", f".{ended_process()}-")
    running = tmp_path / os.path.basename(used)  # as if another thread were writing now
    foreign = tmp_path / left.name.replace("run.nc", "other.nc")
    for file in (left, running, foreign):
        file.write_text("half")
    sim.save(path)
    assert sorted(os.listdir(tmp_path)) == sorted(["run.nc", running.name, foreign.name])


def test_unfinished_files_of_another_machine_are_removed_after_a_day(tmp_path):
    sim, path = rich_run(), tmp_path / "run.nc"
    old, young = (tmp_path / f".run.nc.7-0123abcd.{name}.part" for name in ("old", "young"))
    for file in (old, young):
        file.write_text("half")
    os.utime(old, (time.time() - 90000.0, time.time() - 90000.0))
    link = tmp_path / ".run.nc.8-0123abcd.link.part"
    link.symlink_to(old)
    sim.save(path)
    assert sorted(os.listdir(tmp_path)) == sorted([young.name, link.name, "run.nc"])


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "other.nc"
    path.write_text("not netCDF")
    with pytest.raises(ModelError, match="not a simulation that spacectl saved"):
        load_simulation(path)
    rich_run().dataset.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(ModelError, match="not a simulation that spacectl saved"):
        load_simulation(path)
    with pytest.raises(FileNotFoundError):
        load_simulation(tmp_path / "missing.nc")


def test_trajectory_carries_names_units_and_values():
    sim = rich_run()
    path = sim.trajectory(["angle", "torque"])
    assert path.labels.names == ("angle", "torque")
    np.testing.assert_array_equal(path(sim.t), np.column_stack([sim["angle"], sim["torque"]]))
    assert sim.trajectory().labels.names == ("angle", "rate")
    assert sim.trajectory(["torque"], interpolation="previous").interpolation == "previous"


def test_unknown_names_are_refused_with_a_suggestion():
    sim = rich_run()
    with pytest.raises(ModelError, match="did you mean 'angle'"):
        sim["angel"]
    with pytest.raises(ModelError, match="unknown kind of history 'v'"):
        sim.column("v", "angle")
    with pytest.raises(ModelError, match="did you mean 'angle'"):
        sim.trajectory(["angel"])


def test_where_names_are_shared_the_state_comes_first_and_the_input_can_still_be_had():
    eom = make_plant(lambda s: s.u[0], ("elbow",), ("elbow",))
    sim = simulate(eom, u=[2.0], t_span=(0.0, 1.0))
    assert sim["elbow"][-1] == pytest.approx(2.0, abs=1e-14)
    assert sim["elbow"][0] == 0.0
    assert sim.column("u", "elbow")[0] == 2.0


def test_result_travels_to_other_processes():
    sim = rich_run()
    back = pickle.loads(pickle.dumps(sim))
    assert back.dataset.identical(sim.dataset)
    assert back.outcome.status is Status.OK and back.equations is None
