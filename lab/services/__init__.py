"""PostgreSQL and Redis for a laptop and for tests, from the machine or from Python wheels.

The entry point is `running_services`. The servers listen on unix sockets in a private folder and
end when the process that started them ends. This package does not import Django.
"""

from lab.services.errors import ServiceError
from lab.services.machine import Search
from lab.services.postgres import PostgresServer
from lab.services.redis import RedisServer
from lab.services.running import URL_NAMES, RunningServices, running_services
from lab.services.server import Server
from lab.services.throw_away import throw_away_services

__all__ = [
    "URL_NAMES",
    "PostgresServer",
    "RedisServer",
    "RunningServices",
    "Search",
    "Server",
    "ServiceError",
    "running_services",
    "throw_away_services",
]
