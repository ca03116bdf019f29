"""The sensors, one file each. To add one, write a file like its neighbours and list it here."""

from spacectl.model.sensors.acceleration import Acceleration
from spacectl.model.sensors.angular_velocity import AngularVelocity
from spacectl.model.sensors.attitude import Attitude
from spacectl.model.sensors.base import SensedMotion, Sensor
from spacectl.model.sensors.position import Position
from spacectl.model.sensors.velocity import Velocity

__all__ = ["SENSORS", "Acceleration", "AngularVelocity", "Attitude", "Position", "SensedMotion", "Sensor", "Velocity"]

#: Sensors by their name in files.
SENSORS: dict[str, type[Sensor]] = {
    kind.__name__: kind for kind in (Position, Velocity, Acceleration, AngularVelocity, Attitude)
}
