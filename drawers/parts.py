"""The part of drawers on the page of a person."""

from core.parts import fill

fill("person_account", "drawers/usual_drawer.html")
