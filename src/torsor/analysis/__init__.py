"""Analyses without time integration: equilibria, linear models, kinematics, assembly."""
