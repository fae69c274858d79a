"""The page Distant labels."""
