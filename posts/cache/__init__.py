"""The caches of posts: weeks of posts, counts and viewer states in Redis; posts in the process."""
