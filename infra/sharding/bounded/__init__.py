"""PostgreSQL as Django has it, but no answer is waited for longer than OPTIONS["answer_s"]."""
