"""Databases behind a pool, which gives each transaction of a web server another session."""
