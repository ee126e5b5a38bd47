"""Fault experiments: the whole service as child processes, under load, judged from the clients'
own histories. `python -m lab.faults` runs them. The product never imports this package.
"""
