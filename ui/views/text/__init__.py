"""The page Text."""
