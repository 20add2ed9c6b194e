"""Methods of integration, one registered class each."""
