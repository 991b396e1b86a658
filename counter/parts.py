"""The part of the counter on the page of a till."""

from core.parts import fill

fill("till", "counter/first_tiles_part.html")
