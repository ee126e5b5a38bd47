"""The HTTP load of benchmarks, experiments and tests: one loop, and what is measured with it."""
