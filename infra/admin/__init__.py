"""Base classes of the admin's lists: by key and read-only, and actions that need a reason."""
