"""The three limits (document, Limits), as sliding windows: at most N accepted requests in any window."""

import math
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from sandbox.errors import ApiError, ErrorCode
from sandbox.models import Account, LimitHit


class Tally:
    """The limits that one request counts against. A request refused with 429 counts against none."""

    def __init__(self, account: Account) -> None:
        self.limits: dict[str, int] = {**settings.SANDBOX_LIMITS, **account.limits}
        self.window = timedelta(seconds=account.limits.get("window", settings.SANDBOX_LIMIT_WINDOW))
        self.taken: list[int] = []

    def admit(self, limit: str, *, who: str = "") -> None:
        """Count the request against the limit "ip", "account" or "products", for `who` (the IP address).

        Raises ApiError RATE_LIMITED with the whole seconds after which a request would be admitted.
        """
        allowed = self.limits[limit]
        scope = f"{limit}:{who}"
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [scope])
            # read the clock after taking the lock, so that the times of a scope are in order
            now = timezone.now()
            counted = LimitHit.objects.filter(scope=scope, at__gt=now - self.window).order_by("-at")
            leaves = list(counted.values_list("at", flat=True)[allowed - 1 : allowed]) if allowed > 0 else [now]
            if not leaves:
                self.taken.append(LimitHit.objects.create(scope=scope, at=now).pk)
                return
        self.give_back()
        wait = (leaves[0] + self.window - now).total_seconds()
        raise ApiError(ErrorCode.RATE_LIMITED, retry_after=max(1, math.ceil(wait)))

    def give_back(self) -> None:
        """Stop counting the request: it was refused with 429."""
        LimitHit.objects.filter(pk__in=self.taken).delete()


def forget_old() -> datetime:
    """Delete the hits of a day ago and older, which no window counts; returns when to do it again."""
    now = timezone.now()
    LimitHit.objects.filter(at__lt=now - timedelta(days=1)).delete()
    return now + timedelta(hours=1)
