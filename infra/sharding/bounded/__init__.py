"""Django's PostgreSQL backend, with a limit on the wait for an answer: OPTIONS["answer_s"]."""
