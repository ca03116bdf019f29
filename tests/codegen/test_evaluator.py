"""An evaluator that is called often is compiled, and gives the same digits as before."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from spacectl import library
from spacectl.codegen import binding
from spacectl.codegen.binding import Evaluator
from spacectl.codegen.bound_function import compile_exactly
from spacectl.codegen.compiler import find_compiler
from spacectl.codegen.emit_c import can_emit
from spacectl.dynamics.form import form_equations

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
SYSTEMS = ("free_flyer_arm", "planar_arm", "flexible_four_bar", "five_bar")
FUNCTIONS = ("energy", "momentum", "placements", "mass_matrix", "bias", "center_of_mass")


def draw(function: Any, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 0.9, function.numel_in(i)) for i in range(function.n_in())]


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "spacectl-compile":
            thread.join(60.0)


@pytest.mark.parametrize("name", SYSTEMS)
def test_exact_code_gives_the_digits_of_the_virtual_machine(name: str) -> None:
    eom = form_equations(getattr(library, name)())
    for key in FUNCTIONS:
        function = eom.functions[key]
        if not can_emit(function):
            continue
        plain, compiled = Evaluator(function), Evaluator(function)
        first = draw(function, 0)
        assert compiled.replace_by(compile_exactly(function), first, plain(*first)), key
        for seed in range(1, 6):
            arguments = draw(function, seed)
            for a, b in zip(plain(*arguments), compiled(*arguments), strict=True):
                np.testing.assert_array_equal(a, b)


def test_a_function_is_compiled_after_enough_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "_OPERATIONS", 5_000)
    eom = form_equations(library.planar_arm())
    function = eom.functions["energy"]
    evaluator, plain = Evaluator(function), Evaluator(function)
    plain._left = -1
    for k in range(400):
        arguments = draw(function, k)
        for a, b in zip(evaluator(*arguments), plain(*arguments), strict=True):
            np.testing.assert_array_equal(a, b)
        time.sleep(0.0)
    wait_for_threads()
    assert evaluator._native is not None and plain._native is None
    arguments = draw(function, 1000)
    np.testing.assert_array_equal(evaluator(*arguments)[0], plain(*arguments)[0])


def test_code_that_rounds_in_another_way_is_not_used() -> None:
    function = form_equations(library.planar_arm()).functions["energy"]
    evaluator = Evaluator(function)
    arguments = draw(function, 0)
    results = evaluator(*arguments)
    results[0] = results[0] * (1.0 + 1e-15)
    assert not evaluator.replace_by(compile_exactly(function), arguments, results)
    assert evaluator._native is None


def test_a_long_function_stays_with_the_virtual_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "_OPERATIONS", 1)
    monkeypatch.setattr(binding, "_LONGEST", 10)
    function = form_equations(library.planar_arm()).functions["energy"]
    evaluator = Evaluator(function)
    evaluator(*draw(function, 0))
    wait_for_threads()
    assert evaluator._native is None


def test_without_a_compiler_the_virtual_machine_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "find_compiler", lambda: None)
    monkeypatch.setattr(binding, "_OPERATIONS", 1)
    function = form_equations(library.planar_arm()).functions["energy"]
    evaluator = Evaluator(function)
    evaluator(*draw(function, 0))
    wait_for_threads()
    assert evaluator._native is None
