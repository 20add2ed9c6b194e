"""Inverse kinematics: configurations that reach given targets, ranges of motion."""
