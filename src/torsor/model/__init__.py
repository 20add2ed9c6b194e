"""The description of a mechanism: bodies, models inside models, parameters, the graph of bodies and joints."""
