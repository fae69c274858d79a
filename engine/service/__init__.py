"""A small HTTP service around a run: texts in, entities out. Needs torch and FastAPI.

access   who may ask: where it listens, the token, how much a request may hold
web      the service itself
"""

from engine.service.access import check_address, service_token
from engine.service.web import MOST_MB, check_packages, make_service, serve

__all__ = [
    "MOST_MB",
    "check_address",
    "check_packages",
    "make_service",
    "serve",
    "service_token",
]
