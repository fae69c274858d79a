"""Property tests draw the same examples on every run, so a failure is there again tomorrow."""

from hypothesis import settings

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("ci")
