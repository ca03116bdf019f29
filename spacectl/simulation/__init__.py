"""Closed-loop simulation: from equations, a law and a starting state to labelled histories and events."""

from spacectl.simulation.closed_loop import simulate
from spacectl.simulation.events import Event, Guard
from spacectl.simulation.impulses import Impulse, find_impulse
from spacectl.simulation.load import load_simulation
from spacectl.simulation.many import simulate_many
from spacectl.simulation.many_result import SimulationBatch, load_batch
from spacectl.simulation.result import Simulation
from spacectl.simulation.stage_result import StagedSimulation, Transition
from spacectl.simulation.stage_run import simulate_stages
from spacectl.simulation.stages import Exit, Impact, Stage, StageProduct, combine_stages

__all__ = [
    "Event",
    "Exit",
    "Guard",
    "Impact",
    "Impulse",
    "Simulation",
    "SimulationBatch",
    "Stage",
    "StageProduct",
    "StagedSimulation",
    "Transition",
    "combine_stages",
    "find_impulse",
    "load_batch",
    "load_simulation",
    "simulate",
    "simulate_many",
    "simulate_stages",
]
