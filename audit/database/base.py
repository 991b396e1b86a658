"""The backend that `DATABASES["default"]["ENGINE"]` names."""

from typing import Any

from django.db.backends.postgresql import base, features, operations

from audit.context import say_who


class _Features(features.DatabaseFeatures):
    minimum_database_version = (15,)  # Django leaves out constraints with `nulls_distinct=False` on an older one


class _Operations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> Any:
        """The statement with its values, also for a cursor that sends them separately."""
        if isinstance(cursor, base.ServerBindingCursor):
            return self.compose_sql(sql, params)
        return super().last_executed_query(cursor, sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    """Pages, tasks, commands and the dispatcher's threads: each connection of theirs says who writes."""

    features_class = _Features
    ops_class = _Operations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(say_who)
        #: The context that the open transaction has; `None` after a rollback to a savepoint: it is not known then.
        self.said: str | None = ""

    def cursor_that_keeps_plans(self) -> Any:
        """A cursor for statements that are asked often: PostgreSQL plans each once (`prepare_threshold`).

        Django's own cursor writes the values into the text, so that each text is a new statement. Behind a pooler no
        plan is kept.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            return self._prepare_cursor(base.ServerBindingCursor(self.connection))  # type: ignore[attr-defined, call-arg]

    def _commit(self) -> None:
        self.said = ""
        super()._commit()  # type: ignore[misc]

    def _rollback(self) -> None:
        self.said = ""
        super()._rollback()  # type: ignore[misc]

    def _savepoint_rollback(self, sid: str) -> None:
        self.said = None
        super()._savepoint_rollback(sid)  # type: ignore[misc]
