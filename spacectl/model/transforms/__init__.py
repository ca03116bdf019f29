"""Systems made from systems: absolute coordinates, rigid counterparts, segments."""
