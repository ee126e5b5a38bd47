"""The front: one address for several tenants, and before web servers and streaming processes.

It reads the heads of requests only. `Host` says which tenant a request is for (`routes.py`), the
path whether it is a stream; the connection then goes to that process (`front.py`). The list of
tenants is read again each second, and the front keeps the processes of each active tenant
(`tenants.py`, `kept_process.py`). The processes of the installation itself are started by others.
"""
