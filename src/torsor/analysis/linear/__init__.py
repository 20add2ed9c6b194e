"""Linear models about a state or motion, eigenvalues and modes."""
