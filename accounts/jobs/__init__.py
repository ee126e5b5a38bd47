"""The job behind audit accounts."""
