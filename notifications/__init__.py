"""What happened to an account: follows, mentions, reposts and favourites, for its owner to read."""
