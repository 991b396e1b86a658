"""The checks of `./run check` that need Python code; pyproject.toml lists all checks."""
