"""What all maintenance commands share: flags, progress, checkpoints, signals, exit codes."""
