"""Tideline beside what one would use instead, on the same people and posts in the same run.

Here: the data, Tideline's own side, the script of what happens, and the measuring. `contenders/`
runs in an environment of its own (requirements/peers.txt), a process for each peer.
"""
