"""Processes in; the same under watch out: what a manager has of its brokers, their preload server, and the page."""
