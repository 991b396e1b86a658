"""The backend that `DATABASES["default"]["ENGINE"]` names."""

from typing import Any

from django.db.backends.postgresql import base

from audit.context import say_who


class DatabaseWrapper(base.DatabaseWrapper):
    """Pages, tasks, commands and the dispatcher's threads: each connection of theirs says who writes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(say_who)
        #: The context that the open transaction has; `None` after a rollback to a savepoint: it is not known then.
        self.said: str | None = ""

    def _commit(self) -> None:
        self.said = ""
        super()._commit()  # type: ignore[misc]

    def _rollback(self) -> None:
        self.said = ""
        super()._rollback()  # type: ignore[misc]

    def _savepoint_rollback(self, sid: str) -> None:
        self.said = None
        super()._savepoint_rollback(sid)  # type: ignore[misc]
