"""Workloads that measure Tideline against its floors. Measured, never asserted: `make bench`."""
