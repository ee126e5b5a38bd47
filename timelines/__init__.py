"""What each person sees: home and author timelines, their stores, fan-out and pull."""
