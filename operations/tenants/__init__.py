"""Tenants: several products on one installation.

A tenant has databases, a database of Redis, a folder of images and processes of its own, on the
servers of the installation (config/tenant.py). So no row, key or memory needs to say whose it is,
and what belongs to another tenant is absent. Here are the list of tenants, which is in the default
database of the installation, and what an operator does with them. `web/front/` starts their
processes and gives each request to the right tenant. Why:
docs/explanation/decisions/0113-a-tenant-has-databases-of-its-own.md.
"""
