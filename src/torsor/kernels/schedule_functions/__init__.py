"""Compiled functions that the native code of schedules calls."""
