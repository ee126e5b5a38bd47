"""Follows, blocks and mutes: forward edges (the truth), backward edges (derived), edge lists."""
