"""Contacts, impacts and dry friction at the instants of events."""
