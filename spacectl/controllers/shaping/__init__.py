"""Command shaping: input shapers, profiles, vibration suppression."""
