"""The counting service: one row for each subject and kind, moved with the rows that it counts."""
