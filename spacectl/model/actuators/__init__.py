"""The actuators, one file each. To add one, write a file like its neighbours and list it here."""

from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.body_force import BodyForce
from spacectl.model.actuators.body_torque import BodyTorque
from spacectl.model.actuators.control_moment_gyro import ControlMomentGyro
from spacectl.model.actuators.distributed_force import DistributedForce, DistributedTorque
from spacectl.model.actuators.effort import Effort, JointEffort, Wrench
from spacectl.model.actuators.joint_force import JointForce
from spacectl.model.actuators.joint_torque import JointTorque
from spacectl.model.actuators.reaction_wheel import ReactionWheel
from spacectl.model.actuators.thruster import Thruster

__all__ = [
    "ACTUATORS",
    "Actuator",
    "BodyForce",
    "BodyTorque",
    "ControlMomentGyro",
    "DistributedForce",
    "DistributedTorque",
    "Effort",
    "JointEffort",
    "JointForce",
    "JointTorque",
    "ReactionWheel",
    "Thruster",
    "Wrench",
]

#: Actuators by their name in files.
ACTUATORS: dict[str, type[Actuator]] = {
    kind.__name__: kind
    for kind in (
        *(JointTorque, JointForce, BodyForce, BodyTorque, Thruster, ReactionWheel, ControlMomentGyro),
        *(DistributedForce, DistributedTorque),
    )
}
