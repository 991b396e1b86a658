"""Adds to an invitation the drawer that the new person usually opens."""

from drawers.forms import JoiningForm
from staff.joining import asks

asks(JoiningForm)
