"""Posts that their authors wrote for later. A periodic task publishes each of them once."""
