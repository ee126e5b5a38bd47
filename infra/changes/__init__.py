"""The change table: the queue that cannot lose. Writes append, the drain delivers."""
