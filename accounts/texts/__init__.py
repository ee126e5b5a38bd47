"""The texts that people write: how long they are, what they link to, and their HTML."""
