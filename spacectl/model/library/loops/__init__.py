"""Ready chains and mechanisms of local loops."""
