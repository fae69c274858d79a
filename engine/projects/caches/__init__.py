"""Results that are slow to compute, kept beside the project; they may be deleted at any time."""
