"""Tethers: a straight line and an elastic one."""

from spacectl.model.tethers.elastic_tether import ElasticTether
from spacectl.model.tethers.line_element import LineElement
from spacectl.model.tethers.tether import Tether

__all__ = ["ElasticTether", "LineElement", "Tether"]
