"""Reading the environment for the settings: a wrong value ends the start with one line that says what is allowed.

The settings import it, so it imports nothing of Django.
"""

from collections.abc import Callable
from typing import Any

from environs import EnvValidationError, FileAwareEnv

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Only these values are shown: a text may be a secret.
_SHOWN = {
    "bool": "1 or 0",
    "int": "a whole number",
    "float": "a number",
    "log_level": f"{', '.join(_LEVELS[:-1])} or {_LEVELS[-1]}",
}
_ALLOWED = {
    **_SHOWN,
    "dict": "name=value, with commas between",
    "dj_db_url": "postgresql://USER@HOST:5432/NAME, with the password after USER and a colon, percent-encoded",
    "list": "values with commas between",
    "str": "a text",
}


class Environment(FileAwareEnv):
    """The environment and `.env`. Its methods raise SystemExit, with a sentence, for a value that cannot be used.

    An empty value counts as none, as for the launcher.
    """

    def _get_value(self, env_key: str, default: Any) -> Any:
        value, file = super()._get_value(env_key, ""), super()._get_value(f"{env_key}{self.file_suffix}", "")
        return value if value or file else default  # an empty file is a mistake


def _refuse_other_level(text: str) -> None:
    """ValueError for a level that only a part of our processes takes: the workers' command line takes these names."""
    if text.strip().upper() not in _LEVELS:
        raise ValueError(text)


def _or_end(kind: str, allowed: str) -> Callable[..., Any]:
    read = getattr(FileAwareEnv, kind)

    def method(self: Environment, name: str, *args: Any, **more: Any) -> Any:
        try:
            value = read(self, name, *args, **more)
            if kind == "log_level":
                _refuse_other_level(str(self._get_value(name, "INFO")))
            if kind == "list":  # people write a space behind a comma
                return [part.strip() for part in value if part.strip()]
            return value
        except ValueError as error:
            if not isinstance(error, EnvValidationError) and f"{name}{self.file_suffix}" in str(error):
                raise SystemExit(str(error)) from None  # NAME_FILE names a file that cannot be read
            given = f", not {str(self._get_value(name, ''))!r}" if kind in _SHOWN else ""
            raise SystemExit(f"{name} must be {allowed}{given}: correct or remove it.") from None

    return method


for _kind, _words in _ALLOWED.items():
    setattr(Environment, _kind, _or_end(_kind, _words))
