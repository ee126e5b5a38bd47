"""The way of a request through a web process, from the connection to the thread that serves it.

1. Granian speaks HTTP. One thread of Granian gives each request to `reception`.
2. The event loop reads the body, if there is one (`bodies`).
3. The request waits in a queue (`request_queues`, `shared_queue`) for a thread.
4. The thread runs the application: the short path, or Django.

A request that is refused on this way gets an answer of `refusals`.
"""
