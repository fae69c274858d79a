"""Benchmarks that need time or data; each prints a table and, as its last line, JSON."""
