"""The web process: its server, the way of a request to its view, health and metrics."""
