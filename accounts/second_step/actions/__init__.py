"""Writes: a person changes their own second step, an operator resets that of another."""
