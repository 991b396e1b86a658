"""Plays a request's scenario before the normal work, or instead of it."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox.errors import ApiError, ErrorCode
from sandbox.models import LateArrival, Mutation, MutationKind, ScenarioPlay
from sandbox.scenarios import Scenario
from sandbox.services import scheduler

RETRY_AFTER = 3.0
Fields = ParamSpec("Fields")
Result = TypeVar("Result")


class CutFirst(Exception):
    """The scenario cuts the connection before anything happens."""


def in_transaction(work: Callable[Fields, Result]) -> Callable[Fields, Result]:
    """Do `work` in one database transaction that an ApiError or CutFirst does not roll back.

    That keeps the note of a scenario's first play. `work` must refuse before it touches money, never after.
    """

    @wraps(work)
    def worked(*args: Fields.args, **fields: Fields.kwargs) -> Result:
        with transaction.atomic():
            try:
                return work(*args, **fields)
            except (ApiError, CutFirst) as raised:
                refusal = raised
        raise refusal

    return worked


def sped(seconds: float) -> timedelta:
    """A delay of the sandbox, divided by SANDBOX_SPEED."""
    return timedelta(seconds=seconds / settings.SANDBOX_SPEED)


def play(scenario: Scenario, endpoint: str, fields: dict[str, Any]) -> tuple[ScenarioPlay, bool]:
    """Note that the scenario was played for the request's ref_id; returns the note, and whether it is the first play.

    `fields` are those of the request. Raises ApiError or CutFirst if the scenario does. Call it inside
    `in_transaction`, under the account's lock.
    """
    ref_id = fields["ref_id"]
    noted, is_first = ScenarioPlay.objects.get_or_create(ref_id=ref_id, endpoint=endpoint)
    if scenario.cut_first and is_first:
        if scenario.arrives_after is not None:
            due_at = timezone.now() + sped(scenario.arrives_after)
            LateArrival.objects.create(ref_id=ref_id, endpoint=endpoint, fields=fields, due_at=due_at)
            transaction.on_commit(scheduler.wake)
        raise CutFirst
    over = not is_first and (
        scenario.refused_once or (scenario.refused_until_topup and _topped_up_since(noted))
    )  # fmt: skip
    if scenario.refusal is None or over:
        return noted, is_first
    is_limit = scenario.refusal is ErrorCode.RATE_LIMITED
    retry_after = max(1, round(RETRY_AFTER / settings.SANDBOX_SPEED)) if is_limit else None
    raise ApiError(scenario.refusal, retry_after=retry_after)


def _topped_up_since(noted: ScenarioPlay) -> bool:
    return Mutation.objects.filter(kind=MutationKind.TOPUP, at__gt=noted.at).exists()
