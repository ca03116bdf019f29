"""The drawing of a model names its parts, joints, masses, modes and inputs."""

from __future__ import annotations

from spacectl.model.library import free_flyer_arm
from spacectl.reports.page.model_drawing import ROW, SHOWN, draw_model
from tests.reports.test_scene import flexible_arm


def test_parts_are_listed_with_joint_mass_and_modes() -> None:
    drawing = draw_model(flexible_arm())
    texts = [row["title"] + " | " + row["detail"] for row in drawing["rows"]]
    assert texts[0].startswith("free space")
    assert texts[1].startswith("boom: beam, 8 kg, 2 modes (")
    assert "revolute joint 'shoulder' about z; torque; force jet" in texts[1]
    assert texts[2] == "hand: rigid, 3 kg | revolute joint 'wrist' about z"
    assert drawing["notes"] == ["sensors: tip"]
    assert len(drawing["rails"]) == 2


def test_a_chain_runs_straight_down() -> None:
    drawing = draw_model(free_flyer_arm())
    assert {row["x"] for row in drawing["rows"]} == {drawing["rows"][0]["x"]}
    assert "torque ±200 N·m" in drawing["rows"][2]["detail"]
    assert drawing["height"] < ROW * (SHOWN + 2)
