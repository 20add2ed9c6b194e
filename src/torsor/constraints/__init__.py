"""Constraints other than joints: elementary, imposed, rolling and one-sided ones. One registered class each; a new
one is one file in this folder."""
