"""What operators look at and push, across all apps and shards: pages of the admin."""
