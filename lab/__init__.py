"""All that drives a whole Tideline from outside: `make run`, its servers, measurements, faults.

The product never imports this package.
"""
