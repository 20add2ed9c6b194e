"""What elements are made of: names, quantities, lazily created symbols, inertias, the base class of all elements."""
