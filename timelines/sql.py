"""SQL over the tables of timelines, for other apps: only this app names its tables."""

# Adds posts to a shard's recent-posts index, for benchmarks. A SELECT of these columns follows.
INSERT_RECENT_POSTS = "INSERT INTO timelines_recentpost (author_id, moment)"
ANALYZE_RECENT_POSTS = "VACUUM ANALYZE timelines_recentpost"
