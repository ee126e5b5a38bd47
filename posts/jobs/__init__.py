"""Jobs of posts: what the commands of the same names do."""
