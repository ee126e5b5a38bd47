"""Which database holds what: buckets, placement, the router that refuses to guess, scatter."""
