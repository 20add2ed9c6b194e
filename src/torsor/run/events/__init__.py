"""Events during a run: detection, location, actions, changes of structure."""
