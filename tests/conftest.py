"""Property tests draw the same examples on every run, so a failure is there again tomorrow."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],  # it measures the machine
)
settings.load_profile("ci")
