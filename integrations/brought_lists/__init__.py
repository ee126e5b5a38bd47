"""Lists that a person brings from another server: a CSV file, done line by line later."""
