"""Functional Mock-up Units: models as FMUs for other tools."""
