"""The app: everything that draws. It computes nothing; `engine` does."""
