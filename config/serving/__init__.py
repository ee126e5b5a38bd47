"""The request's way through a web process: received, its body read, queued, served or refused.

Granian speaks HTTP and gives each request to `reception`, in one thread. Bodies are read by the
event loop (`bodies`). Then the request waits in a lane (`lanes`) for a thread that runs Django.
"""
