"""Compares Tideline with other feed software, on the same accounts and posts in the same run.

Here are the data, Tideline's side, the script of events, and the measurement. `contenders/` runs in
its own environment (the group `peers` of uv.lock), with one process for each.
"""
