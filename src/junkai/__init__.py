"""Junkai keeps up with feeds and sites, politely: claim, fetch, parse, decide, record."""

__version__ = "0.1.0"
