"""Reads: what a person has for the second step."""
