"""The counting service: one row per subject and kind, moved with the row it counts."""
