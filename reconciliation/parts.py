"""The part of reconciliation on the pages that close a day: the provider's balance beside the cash."""

from core.parts import fill

fill("day_provider", "reconciliation/day_provider.html")
