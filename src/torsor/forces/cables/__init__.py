"""Cables and belts over pulleys."""
