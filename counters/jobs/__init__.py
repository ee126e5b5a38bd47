"""Maintenance of counts: compare, repair, cache again. The commands call these jobs."""
