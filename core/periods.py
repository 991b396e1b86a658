"""Days that stay relative to today: today, yesterday, last month."""

import datetime as dt

from django.db import models
from django.utils.translation import gettext_lazy as _


class Period(models.TextChoices):
    """A span of days as an address names it. Every page offers its periods in this order."""

    TODAY = "today", _("Today")
    YESTERDAY = "yesterday", _("Yesterday")
    WEEK = "week", _("This week")
    LAST_WEEK = "last-week", _("Last week")
    DAYS_7 = "7", _("7 days")
    MONTH = "month", _("This month")
    LAST_MONTH = "last-month", _("Last month")
    DAYS_30 = "30", _("30 days")

    def days(self, today: dt.date) -> tuple[dt.date, dt.date]:
        """Its first and its last day. A week begins on Monday; 7 days end today."""
        monday = today - dt.timedelta(days=today.weekday())
        match self:
            case Period.TODAY | Period.YESTERDAY:
                day = today - dt.timedelta(days=self is Period.YESTERDAY)
                return day, day
            case Period.WEEK:
                return monday, today
            case Period.LAST_WEEK:
                return monday - dt.timedelta(days=7), monday - dt.timedelta(days=1)
            case Period.MONTH:
                return today.replace(day=1), today
            case Period.LAST_MONTH:
                last = today.replace(day=1) - dt.timedelta(days=1)
                return last.replace(day=1), last
            case _:
                return today - dt.timedelta(days=int(self.value) - 1), today
