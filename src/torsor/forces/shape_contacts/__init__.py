"""Contacts of two shapes, as forces and as constraints."""
