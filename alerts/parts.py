"""The part of alerts on the page of preferences."""

from core.parts import fill

fill("preferences", "alerts/results.html")
