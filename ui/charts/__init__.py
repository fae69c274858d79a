"""Figures: pure functions from tables of the engine to Plotly."""
