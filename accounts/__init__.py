"""Who acts: login user, account (profile) on its shard, API applications and tokens."""
