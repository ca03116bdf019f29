"""Closed-loop simulation: from equations, a law and a starting state to labelled histories and events."""

from spacectl.simulation.closed_loop import simulate
from spacectl.simulation.events import Event, Guard
from spacectl.simulation.many import simulate_many
from spacectl.simulation.many_result import SimulationBatch, load_batch
from spacectl.simulation.result import Simulation, load_simulation

__all__ = [
    "Event",
    "Guard",
    "Simulation",
    "SimulationBatch",
    "load_batch",
    "load_simulation",
    "simulate",
    "simulate_many",
]
