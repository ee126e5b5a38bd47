"""The long-lived processes of an installation: what all must have in common, and who differs."""
