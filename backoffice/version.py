"""The version of this code. It stands in pyproject.toml alone; settings.VERSION is for the rooms."""

import tomllib
from pathlib import Path

VERSION: str = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["version"]
