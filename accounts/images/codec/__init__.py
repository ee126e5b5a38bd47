"""Uploaded bytes become the files that readers get. Pure: no database, no file."""
