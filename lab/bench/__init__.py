"""Workloads of `make bench`: Tideline next to a floor, the least that its work could cost.

They measure and assert nothing.
"""
