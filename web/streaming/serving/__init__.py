"""The server of the streaming process, with a bound for everything that a client can send.

1. `server.py` is the main process: it opens the port, starts the workers and drains before it ends.
2. `worker.py` accepts connections, as many as there are places.
3. `connection.py` is one of them: it reads a little at a time, and has a deadline for the head.
4. `http_exchange.py` and `socket_exchange.py` are what the application calls.

Granian has no bound for messages of WebSocket (decision 0092).
"""
