"""Drawers in words: the shifts and their cash (`shifts`), and how each sale was paid (`sales`)."""
