"""The address of a client that may be behind proxies."""

from django.conf import settings


def choose_client(forwarded: str | None, peer: str) -> str:
    """The entry of X-Forwarded-For (`forwarded`) before our TRUSTED_PROXIES.

    Clients can write anything into the entries further left. `peer`: where the connection is from.
    """
    hops = [hop.strip() for hop in forwarded.split(",")] if forwarded else []
    hops.append(peer)
    return hops[max(0, len(hops) - 1 - settings.TRUSTED_PROXIES)]
