"""Laws that invert the model: feedback linearisation, artificial constraints."""
