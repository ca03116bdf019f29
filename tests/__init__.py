"""Tests of spacectl. They mirror the package; `oracles` and `peers` hold truth that does not come from it."""
