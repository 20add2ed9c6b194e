"""Building blocks of elements: names, quantities, lazily created symbols, inertias, the base class of all elements."""
