"""Who follows whom: forward edges (the truth), backward edges (derived), their lists."""
