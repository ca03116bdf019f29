"""Linear analysis: operating points, exact linear models, modes, reduction, norms, margins."""
