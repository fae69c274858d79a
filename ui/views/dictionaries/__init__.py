"""The page Dictionaries."""
