"""Reads what other systems export: files, lines, formats, and the frame of import commands.

An app's import job takes records (types.py) and does not know which format they came from.
"""
