"""What people post: ids, bodies, creation, deletion, and the cache pages are spliced from."""
