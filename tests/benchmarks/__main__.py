"""`python -m tests.benchmarks [--out out/bench] [--only forward,linear] [--tiny]`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.campaign import measure_campaign
from tests.benchmarks.closed_loop import measure_closed_loop, measure_sampled_loop
from tests.benchmarks.embedded import measure_embedded
from tests.benchmarks.forward import measure_chains, measure_long_chain, measure_seven_joints
from tests.benchmarks.laws import measure_laws
from tests.benchmarks.linear import measure_linearisation
from tests.benchmarks.loops import measure_loops
from tests.benchmarks.measure import FULL, TINY, Effort, describe_machine
from tests.benchmarks.model_laws import measure_model_laws
from tests.benchmarks.planners.flexible_plan import measure_flexible_plan
from tests.benchmarks.planners.path_timing import measure_path_timing
from tests.benchmarks.report import Section, add_to_history, write_report
from tests.benchmarks.robots.documented_calls import measure_documented_calls
from tests.benchmarks.startup import measure_first_call
from tests.benchmarks.systems import mujoco, pin
from tests.benchmarks.wrappers import measure_wrappers

ITEMS: dict[str, Callable[[Effort], Section]] = {
    "documented_calls": measure_documented_calls,
    "seven_joints": measure_seven_joints,
    "long_chain": measure_long_chain,
    "chains": measure_chains,
    "first_call": measure_first_call,
    "linear": measure_linearisation,
    "closed_loop": measure_closed_loop,
    "sampled_loop": measure_sampled_loop,
    "campaign": measure_campaign,
    "laws": measure_laws,
    "loops": measure_loops,
    "model_laws": measure_model_laws,
    "wrappers": measure_wrappers,
    "embedded": measure_embedded,
    "path_timing": measure_path_timing,
    "flexible_plan": measure_flexible_plan,
}


def main(given: Sequence[str] | None = None) -> None:
    """Measure, write and show."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("out/bench"), help="folder for bench.md, bench.json, history.jsonl"
    )
    parser.add_argument("--only", default=",".join(ITEMS), help=f"items, with commas between: {', '.join(ITEMS)}")
    parser.add_argument("--tiny", action="store_true", help="small sizes: to see that everything runs")
    arguments = parser.parse_args(given)
    if pin is None or mujoco is None:
        parser.error("the peers are missing; install spacectl[crosscheck]")
    chosen = arguments.only.split(",")
    for name in chosen:
        if name not in ITEMS:
            parser.error(f"item '{name}' is unknown; there are {', '.join(ITEMS)}")
    sections = []
    for name in chosen:
        begin = time.perf_counter()
        sections.append(ITEMS[name](TINY if arguments.tiny else FULL))
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
        page, _ = write_report(arguments.out, sections, describe_machine())
    add_to_history(arguments.out / "history.jsonl", sections, describe_machine(), time.strftime("%Y-%m-%d %H:%M"))
    print(page.read_text(encoding="utf-8"))
    print(f"written: {page}")


if __name__ == "__main__":
    main()
