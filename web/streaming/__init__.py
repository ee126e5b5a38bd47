"""The streaming process: it tells open connections what happens, as it happens.

1. `feed.py`: a thread for each database reads its delivered changes.
2. `router.py`: one thread makes *happenings* of them (`happenings/`), and asks the `directory`
   which connections may get each one.
3. `show.py` asks the rules for each of these accounts, and makes the messages.
4. `subscriber.py` queues the messages of one connection; `sse.py` and `socket.py` send them.

`history.py` keeps the last happenings, for a client that comes back with `Last-Event-ID`.
"""
