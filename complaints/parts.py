"""The part of complaints on the page of an order."""

from core.parts import fill

fill("order_head", "complaints/order_complaint.html")
