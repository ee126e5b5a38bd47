"""How long a process may use what it has read from Redis, before it must ask again.

Writers wait so long before they answer, when they cannot end what others have read. They wait a
little longer: the clocks of two machines may run at different speeds.
"""

SLOWER_CLOCK = 1.05
# A process reads from a server for so long after the server has accepted a write of this process.
ACCEPTED_S = 0.1
# What was in a server that now refuses writes is not used any more by any process.
UNREAD_AFTER_S = SLOWER_CLOCK * ACCEPTED_S
