"""What `make run` is made of: progress, the Django steps before the start, children, the screen."""
