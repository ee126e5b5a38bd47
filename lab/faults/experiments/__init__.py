"""The experiments: each breaks something under load, and says what must hold all the same."""
