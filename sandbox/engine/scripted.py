"""What a magic destination does to a request before, and instead of, the ordinary work."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox import clock
from sandbox.api.envelope import ApiError, ErrorCode, UnknownCode
from sandbox.models import LateArrival, Mutation, MutationKind, ScenarioPlay
from sandbox.scenarios import Scenario

RETRY_AFTER = 3.0


class CutFirst(Exception):
    """The connection is to be cut before anything happened."""


Result = TypeVar("Result")


def in_transaction(work: Callable[[], Result]) -> Result:
    """Do `work` in one database transaction that an ApiError or CutFirst does not roll back.

    So what a scenario noted about this request stays noted; `work` refuses before it touches money, never after.
    """
    refusal: ApiError | CutFirst
    with transaction.atomic():
        try:
            return work()
        except (ApiError, CutFirst) as raised:
            refusal = raised
    raise refusal


def sped(seconds: float) -> timedelta:
    """A delay of the sandbox, shortened by SANDBOX_SPEED."""
    return timedelta(seconds=seconds / settings.SANDBOX_SPEED)


def interfere(scenario: Scenario, *, ref_id: str, endpoint: str, fields: dict[str, Any]) -> None:
    """Let the request through, or raise what the scenario does to it instead: ApiError or CutFirst.

    Called inside `in_transaction`, under the account's lock.
    """
    first_at = _first_play(scenario, ref_id, endpoint)
    if scenario.cut_first and first_at is None:
        if scenario.arrives_after is not None:
            due_at = timezone.now() + sped(scenario.arrives_after)
            LateArrival.objects.create(ref_id=ref_id, endpoint=endpoint, fields=fields, due_at=due_at)
            transaction.on_commit(clock.wake)
        raise CutFirst
    if scenario.unknown_code and first_at is None:
        raise UnknownCode
    if scenario.refusal is None or (scenario.refused_once and first_at is not None):
        return
    if scenario.refused_until_topup and first_at is not None and _topped_up_since(first_at):
        return
    limited = scenario.refusal is ErrorCode.RATE_LIMITED
    retry_after = max(1, round(RETRY_AFTER / settings.SANDBOX_SPEED)) if limited else None
    raise ApiError(scenario.refusal, retry_after=retry_after)


def _first_play(scenario: Scenario, ref_id: str, endpoint: str) -> datetime | None:
    """When the scenario was first played for this ref_id; None: it is the first time, and that is noted."""
    if not (scenario.cut_first or scenario.refused_once or scenario.refused_until_topup):
        return None
    play, is_first = ScenarioPlay.objects.get_or_create(
        ref_id=ref_id, endpoint=endpoint, defaults={"scenario": scenario.number}
    )
    return None if is_first else play.at


def is_first_play(scenario: Scenario, ref_id: str, endpoint: str) -> bool:
    """Whether this is the scenario's first request with this ref_id; it is noted as played."""
    _play, is_first = ScenarioPlay.objects.get_or_create(
        ref_id=ref_id, endpoint=endpoint, defaults={"scenario": scenario.number}
    )
    return is_first


def _topped_up_since(moment: datetime) -> bool:
    return Mutation.objects.filter(kind=MutationKind.TOPUP, at__gt=moment).exists()
