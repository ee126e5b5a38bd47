"""Images that accounts upload: checked, re-encoded, stored as files, attached and removed."""
