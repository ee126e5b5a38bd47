"""PostgreSQL and Redis for a laptop and for tests: found on the machine or carried by wheels.

No Django here. The servers listen on unix sockets in a private folder and die with the process
that started them. `running_services` is the door.
"""

from config.services.errors import ServiceError
from config.services.machine import Search
from config.services.postgres import PostgresServer
from config.services.redis import RedisServer
from config.services.replica import ReplicaServer
from config.services.running import URL_NAMES, RunningServices, running_services
from config.services.server import Server

__all__ = [
    "URL_NAMES",
    "PostgresServer",
    "RedisServer",
    "ReplicaServer",
    "RunningServices",
    "Search",
    "Server",
    "ServiceError",
    "running_services",
]
