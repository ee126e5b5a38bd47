"""Posts, reposts, favourites and bookmarks: ids, writes, reads, caches and their JSON."""
