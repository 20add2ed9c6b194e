"""Prescribed motion: positions, velocities, accelerations and drive forces."""
