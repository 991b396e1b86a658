"""The parts of bills due on the page of a customer, beside each saved number."""

from core.parts import fill

fill("customer_number", "dues/customer_number.html")
fill("customer_number_act", "dues/customer_number_act.html")
