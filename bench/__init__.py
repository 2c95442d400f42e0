"""Timed passes against a local origin; never part of the tests."""
