"""A wrong keyword of a public call names the nearest parameter, and wrapped calls stay what they were."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
import warnings
from typing import Any

import pytest

import spacectl
import spacectl.simulation.run.simulate
from spacectl.core.errors import warn
from tests.simulation.stand_in import double_integrator

simulate = spacectl.simulate  # public names are wrapped when they are first taken from the package


def is_checked(item: Any) -> bool:
    """Whether a public name is a function or class of ours with named parameters only."""
    if not inspect.isfunction(item) and (not inspect.isclass(item) or issubclass(item, (Exception, enum.Enum))):
        return False
    return not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(item).parameters.values())


NAMES = [name for name in spacectl.__all__ if is_checked(getattr(spacectl, name))]


def test_every_public_call_suggests_the_parameter_that_was_meant() -> None:
    assert len(NAMES) > 200
    for name in NAMES:
        item = getattr(spacectl, name)
        known = [key for key in inspect.signature(item).parameters if len(key) > 3]
        if known:
            with pytest.raises(
                TypeError, match=rf"unexpected keyword argument '{known[0]}_'; did you mean '{known[0]}'"
            ):
                item(**{f"{known[0]}_": None})


def test_an_error_from_inside_a_call_is_not_changed() -> None:
    def force(*, size: float) -> list[float]:
        return [size]

    with pytest.raises(TypeError, match="unexpected keyword argument 'grad'") as found:  # which resembles `grid`
        simulate(double_integrator(), lambda t, x: force(grad=1.0), t_span=(0.0, 1.0))  # type: ignore[call-arg]
    assert "did you mean" not in str(found.value)


def test_wrapped_functions_and_classes_keep_identity_signature_and_pickles() -> None:
    assert pickle.loads(pickle.dumps(spacectl.simulate)) is spacectl.simulate is simulate
    assert spacectl.simulation.run.simulate.simulate is simulate
    assert list(inspect.signature(simulate).parameters)[:3] == ["eom", "law", "t_span"]
    body = spacectl.RigidBody(name="a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    assert type(copy.deepcopy(body)) is type(pickle.loads(pickle.dumps(body))) is spacectl.RigidBody


def test_warnings_point_at_the_line_outside_the_package() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("here")
        spacectl.RigidBody(name="bus", mass=1.0, inertia=(1.0, 1.0, 2.0000001))
    assert [item.filename for item in caught] == [__file__] * 2
