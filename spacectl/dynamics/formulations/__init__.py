"""The formulations: siblings that turn a `System` into `EquationsOfMotion`, in one table."""
