"""What connections hear of: each happening knows who may get it, and what they see of it."""
