"""The ids that the product of the operator has for its people, next to those of their accounts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cachebox import LRUCache

from accounts.identities.queries.bound_accounts import load_external_ids

# By the name of an account's id, the name of its external id.
NAMES = {"account_id": "external_id", "target_id": "target_external_id"}
# Parts of data that are lists of such pairs.
_LISTS = ("follows", "posts")
# A binding never changes. 200 bytes each.
_known: LRUCache[tuple[int, int], str] = LRUCache(100_000)


def add_external_ids(tenant: int, data: Sequence[dict[str, Any]]) -> None:
    """Adds those of the accounts that have one. One query by index, if some are not remembered.

    Raises: OperationalError.
    """
    parts = [part for each in data for part in _parts(each)]
    ids = {int(part[name]) for part in parts for name in NAMES if name in part}
    known = _load(tenant, ids)
    for part in parts:
        for name, external in NAMES.items():
            if name in part and (subject := known.get(int(part[name]))) is not None:
                part[external] = subject


def _parts(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield data
    for name in _LISTS:
        yield from data.get(name, ())


def _load(tenant: int, account_ids: Iterable[int]) -> Mapping[int, str]:
    wanted = set(account_ids)
    known = {i: subject for i in wanted if (subject := _known.get((tenant, i))) is not None}
    if unknown := wanted - known.keys():
        new = {i: bound.subject for i, bound in load_external_ids(tenant, unknown).items()}
        _known.update({(tenant, i): subject for i, subject in new.items()})
        known |= new
    return known
