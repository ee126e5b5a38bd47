"""Which database holds which rows: buckets, placement, the router, and queries on many shards."""
