"""What a model tells without a run: equilibria, linear models about a motion, kinematics."""
