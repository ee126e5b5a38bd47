"""Histories: what clients called, what they were answered, and whether that was right."""
