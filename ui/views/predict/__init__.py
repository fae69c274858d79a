"""The page Predict."""
