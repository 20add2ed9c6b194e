"""Machines built from the parts of torsor: gears, cables, cams, motors, contacts. Each is one file with one registered `Case`."""
