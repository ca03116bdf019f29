"""Motions of the five mechanisms with their references, and error over processor time."""

from __future__ import annotations

import numpy as np

from spacectl import Figure, Line, Panel

from .cases import Result
from .measures import andrews_angles, crank_turn, energies, energy_drift, governor_height, pendulum_track
from .references import ANDREWS_END, GOVERNOR_REFERENCE, crank_motion, governor_lift, pendulum_place

__all__ = ["draw"]

FLOOR = 1e-16


def draw(results: list[Result]) -> tuple[Figure, ...]:
    """Draw all figures."""
    by_name: dict[str, Result] = {}
    for item in results:
        if item.method.formulation == "partitioned" or item.benchmark not in by_name:
            by_name[item.benchmark] = item
    return (
        work(results),
        chains(by_name),
        squeezer(by_name["Andrews"]),
        bricard_energy(by_name["Bricard"]),
        rest(by_name),
    )


GROUPS = (
    "compiled, shared kernel",
    "compiled, partitioned",
    "own solver, from Python",
    "compiled, absolute coordinates",
    "compiled, embedded",
    "compiled, as a tree",
)


def group_of(item: Result) -> str:
    """Return the group of methods to which a run belongs."""
    if item.method.tier == "vm":
        return GROUPS[2]
    if item.method.coordinates == "absolute":
        return GROUPS[3]
    is_tree = item.method.formulation == "articulated" or (item.benchmark, item.method.formulation) == (
        "governor",
        "kane",
    )
    own = {"partitioned": GROUPS[1], "embedded": GROUPS[4]}
    return GROUPS[5] if is_tree else own.get(item.method.formulation, GROUPS[0])


def work(results: list[Result]) -> Figure:
    """Draw error over processor time, one marker per run."""
    panels = []
    for name in dict.fromkeys(item.benchmark for item in results):
        own = [item for item in results if item.benchmark == name]
        span = [min(item.seconds for item in own), max(item.seconds for item in own)]
        groups = [(group, [item for item in own if group_of(item) == group]) for group in GROUPS]
        lines = tuple(
            Line(
                x=[item.seconds for item in members],
                y=[item.error + FLOOR for item in members],
                label=group,
                style="markers",
            )
            for group, members in groups  # empty groups too, so that a group has one colour in all panels
        )
        panels.append(
            Panel(
                lines=(*lines, Line(x=span, y=[1e-3, 1e-3], label="allowed", style="dotted")),
                y_label=name.replace("four-bar, ", ""),
                unit="J" if name == "Bricard" else "1",
                x_label="processor time",
                log_x=True,
                log_y=True,
            )
        )
    return Figure(
        name="work",
        title="Error by each benchmark's own measure over processor time",
        caption="N: chains of four-bar linkages. One kernel serves kane, multipliers, udwadia_phohomsiri and artificial when "
        "compiled; partitioned and embedded have their own. Integration errors decide: formulations differ in time, hardly in "
        "accuracy.",
        panels=tuple(panels),
    )


def chains(by_name: dict[str, Result]) -> Figure:
    """Draw angles and errors of the four-bar chains; singular positions are crossed at multiples of 180 degrees."""
    panels, errors, drifts = [], [], []
    for name, item in by_name.items():
        if not name.startswith("four-bar"):
            continue
        n, t = int(name.rsplit(" ", 1)[1]), np.asarray(item.sim.t)
        angle = crank_turn(item.eom, item.sim)
        exact, energy = crank_motion(t, n)[0], energies(item.eom, item.sim)
        if not panels:
            panels.append(
                Panel(
                    lines=(
                        Line(x=t, y=angle, label="first crank"),
                        Line(x=t, y=exact, label="one pendulum", style="dotted"),
                        Line(**crossings(t, angle), label="singular positions", style="markers"),
                    ),
                    y_label=f"angle, N = {n}",
                    unit="rad",
                )
            )
        errors.append(Line(x=t[1:], y=np.abs(angle - exact)[1:] + FLOOR, label=name))
        drifts.append(Line(x=t[1:], y=np.abs(energy - energy[0])[1:] + FLOOR, label=name))
    panels.append(Panel(lines=tuple(errors), y_label="error of angle", unit="1", log_y=True))
    panels.append(Panel(lines=tuple(drifts), y_label="energy drift", unit="J", log_y=True))
    return Figure(
        name="four_bars",
        title="Chains of parallelograms through their singular positions",
        caption="With all links on one line there are instantaneously N + 1 degrees of freedom; no branch changes.",
        panels=tuple(panels),
    )


def crossings(t: np.ndarray, angle: np.ndarray) -> dict[str, np.ndarray]:
    """Return the instants at which the cranks pass the horizontal."""
    turns = np.floor(angle / np.pi)
    at = np.flatnonzero(np.diff(turns))
    return {"x": t[at], "y": np.maximum(turns[at], turns[at + 1]) * np.pi}


def squeezer(item: Result) -> Figure:
    """Draw the seven angles of Andrews' mechanism with the values of the test set at the end."""
    t = np.asarray(item.sim.t)

    angles = andrews_angles(item.eom, item.sim)

    def lines(names: tuple[str, ...]) -> tuple[Line, ...]:
        found = []
        for name in names:
            found.append(Line(x=t, y=angles[name], label=name))
            found.append(Line(x=[t[-1]], y=[ANDREWS_END[name]], style="markers"))
        return tuple(found)

    return Figure(
        name="andrews",
        title="Andrews' squeezing mechanism, angles (markers: test set at 0.03 s)",
        caption=f"Largest relative difference at the end {item.error:.1e}.",
        panels=(
            Panel(lines=lines(("beta", "theta")), y_label="motor, link", unit="1"),
            Panel(lines=lines(("gamma", "phi", "delta", "omega", "epsilon")), y_label="other angles", unit="rad"),
        ),
    )


def bricard_energy(item: Result) -> Figure:
    """Draw the hinges of Bricard's mechanism and its energy."""
    t, x = np.asarray(item.sim.t), np.asarray(item.sim.x)
    energy = energies(item.eom, item.sim)
    names = ("hinge1", "hinge2")
    return Figure(
        name="bricard",
        title="Bricard's mechanism: five constraint equations of rank four",
        caption=f"Hinges move in two groups of three; the energy stays within {energy_drift(item.eom, item.sim):.1e} J.",
        panels=(
            Panel(
                lines=tuple(Line(x=t, y=x[:, item.eom.states.index(name)], label=name) for name in names),
                y_label="angle",
                unit="rad",
            ),
            Panel(
                lines=(Line(x=t[1:], y=np.abs(energy - energy[0])[1:] + FLOOR),),
                y_label="energy drift",
                unit="J",
                log_y=True,
            ),
        ),
    )


def rest(by_name: dict[str, Result]) -> Figure:
    """Draw pendulum and governor with their references."""
    swing, item = by_name["pendulum"], by_name["governor"]
    t, s = np.asarray(swing.sim.t), np.asarray(item.sim.t)
    place, own = pendulum_place(t), pendulum_track(swing.eom, swing.sim)[:, 0]
    height = governor_height(item.eom, item.sim)
    times = np.linspace(0.0, 3.0, len(GOVERNOR_REFERENCE))
    return Figure(
        name="pendulum_and_governor",
        title="Simple pendulum in absolute coordinates, and slider of the stiff governor",
        caption="Markers: elliptic functions, and the library's own reference (31 values of six digits). Stiff springs and "
        "dampers require an implicit method for the governor.",
        panels=(
            Panel(
                lines=(Line(x=t, y=own, label="x"), Line(x=t[::5], y=place[::5, 0], label="exact", style="markers")),
                y_label="pendulum",
                unit="m",
            ),
            Panel(
                lines=(
                    Line(x=s, y=height, label="slider"),
                    Line(x=s[::5], y=governor_lift(s)[::5], label="reduced equations", style="dotted"),
                    Line(x=times, y=GOVERNOR_REFERENCE, label="library's reference", style="markers"),
                ),
                y_label="governor",
                unit="m",
            ),
        ),
    )
