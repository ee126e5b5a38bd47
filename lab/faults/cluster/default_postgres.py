"""PostgreSQL with the settings of its own defaults, as a fresh installation has them.

The servers of `make run` are smaller than that. `wal_level` stays `minimal` and nothing is
synchronised to the disk: a killed process loses nothing by that, only a power cut would.
"""

STOCK = {
    "max_connections": "100",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "min_wal_size": "80MB",
    "max_worker_processes": "8",
    "max_parallel_workers": "8",
    "autovacuum_max_workers": "3",
    "jit": "on",
}
