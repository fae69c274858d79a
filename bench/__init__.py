"""Measurements that need time or the benchmark data; each script prints a table and a JSON line."""
