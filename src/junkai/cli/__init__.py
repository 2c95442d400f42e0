"""Words on a command line in; what the layers below answer, as text, tables or JSON, out. No logic."""
