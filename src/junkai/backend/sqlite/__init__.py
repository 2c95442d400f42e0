"""The embedded store: one SQLite file in, the protocols of `junkai.backend.protocol` out."""
