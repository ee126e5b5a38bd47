"""Users who sign in, accounts (profiles) on their shards, API applications and tokens."""
