"""The checks of `./run check` that need some Python; the list of all is in pyproject.toml."""
