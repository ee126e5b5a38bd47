"""Maintenance of images."""
