"""Linear analysis: operating points, exact linear models about points and along motions, modes, reduction, norms, margins."""
