"""Mechanisms as users give them: quantities, elements, bodies, models inside models, the graph of bodies and joints."""
