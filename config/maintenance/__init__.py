"""What works on, or looks at, several apps at once: caches, the state of it all, invariants."""
