"""Mutants of what a process does when Redis was away, refuses writes or is another server."""

from lab.faults.mutants.mutant import Edit, Mutant

OF_REDIS = (
    Mutant(
        "kept calls forgotten",
        "What Redis did not get during a pause is never sent.",
        ("F35",),
        (
            Edit(
                "infra/caching/client.py",
                "        self._unsent.keep(Call(run, where), items)\n",
                "",
            ),
        ),
    ),
    Mutant(
        "identity ignored",
        "Data of an old dump of Redis are used.",
        ("F6",),
        (
            Edit(
                "infra/caching/server_identity.py",
                "        if identity not in text_of(libraries):\n",
                "        if not libraries:\n",
            ),
        ),
    ),
    Mutant(
        "refusals unnoticed",
        "A process reads from a Redis that refuses writes.",
        ("F44",),
        (
            Edit(
                "infra/caching/connected_server.py",
                "        if asked_at < self._accepted_at + ACCEPTED_S:\n",
                "        if asked_at > self._accepted_at:\n",
            ),
        ),
    ),
)
