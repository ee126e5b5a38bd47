"""Tags and posts that many people use or mark now: computed by a periodic task, kept in Redis."""
