"""Passive elements: springs, dampers, drives. To add one, write a file like its neighbours and list it here."""

from spacectl.model.elements.base import Element, JointElement
from spacectl.model.elements.joint_spring import JointSpring
from spacectl.model.elements.point import PointElement, length_over_time
from spacectl.model.elements.spring_damper import SpringDamper, one_sided, one_sided_kinks

__all__ = [
    "ELEMENTS",
    "Element",
    "JointElement",
    "JointSpring",
    "PointElement",
    "SpringDamper",
    "length_over_time",
    "one_sided",
    "one_sided_kinks",
]

#: Joint elements by their name in files.
ELEMENTS: dict[str, type[JointElement]] = {"JointSpring": JointSpring}
