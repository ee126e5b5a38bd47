"""The oracle: what a history says that the service must answer when it is quiet."""
