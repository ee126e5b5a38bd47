"""Posts for pages: what Redis has of them, read in one trip and joined without parsing."""
