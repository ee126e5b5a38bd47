"""A day's mix of requests at a constant rate, on a follow graph of any size.

In order: the graph, the accounts and posts, the requests, the capacity, the memory, and the
measurement of all.
"""
