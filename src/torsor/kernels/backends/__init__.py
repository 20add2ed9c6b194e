"""Ways to turn graphs into native code: one registered class each. A new one is one file in this folder."""
