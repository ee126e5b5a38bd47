"""The web pages: a client of the API that runs in the same process."""
