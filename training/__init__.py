"""Self-play training and duplicate matches."""
