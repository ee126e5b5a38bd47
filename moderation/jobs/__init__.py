"""Jobs of moderation: what the commands of the same names do."""
