"""What tests of this folder are given: a Redis alone, its server and a client of it."""

from tests.faults.redis_alone import client, server

__all__ = ["client", "server"]
