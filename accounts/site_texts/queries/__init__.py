"""Reads: the texts of the site."""
