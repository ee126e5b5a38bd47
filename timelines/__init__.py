"""Home, author, list and public timelines: stores, fan-out on write, pull on read."""
