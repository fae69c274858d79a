"""The page Coverage curves."""
