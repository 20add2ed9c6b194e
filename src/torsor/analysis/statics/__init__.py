"""Equilibria: the search, the balance of forces, contacts and friction at rest."""
