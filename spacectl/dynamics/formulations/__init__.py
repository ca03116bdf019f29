"""The formulations: functions that turn a `System` into `EquationsOfMotion`, listed in `form.FORMULATIONS`."""
