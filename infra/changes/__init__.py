"""The change table, a transactional outbox: writes append changes, the drain delivers them."""
