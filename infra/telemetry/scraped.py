"""Collectors that ask the stores when somebody looks at /metrics, and belong to no process."""

from prometheus_client import CollectorRegistry

STORE_METRICS = CollectorRegistry()
