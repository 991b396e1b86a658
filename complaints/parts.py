"""The parts of complaints on the page of an order."""

from core.parts import fill

fill("order_head", "complaints/order_complaint.html")
fill("order_step", "complaints/wrong_number.html")
