"""Maintenance jobs of relations: backfill, audit and repair, rebuild caches, reset."""
