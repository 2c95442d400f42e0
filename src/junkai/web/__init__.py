"""A store that is only read, and the manager's word, in; a page, metrics and a health answer on loopback, out."""
