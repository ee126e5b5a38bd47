"""Conformance: the own tests of Mastodon clients, against a fresh Tideline.

`python -m lab.conformance` runs them and prints what passed, failed, or does not apply and why. The
clients are fetched from their registries, and never copied into this repository.
"""
