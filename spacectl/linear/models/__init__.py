"""Linear models and what they are made from: tangents, manifolds, scaling, sensitivities."""
