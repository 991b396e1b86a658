"""The part of the counter on the page of a till, and what a till that replaces another one keeps."""

from core.parts import fill
from counter.services.first_tiles import copy_first_tiles
from tills.services.enrolling import replaces

fill("till", "counter/first_tiles_part.html")
replaces(copy_first_tiles)
