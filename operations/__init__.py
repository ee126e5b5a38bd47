"""The operators' pages in the admin. They read and repair across all apps and shards."""
