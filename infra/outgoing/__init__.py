"""Requests to servers of others: addresses that are allowed, and bounds on the wait."""
