"""The part of bills due on the page of a customer."""

from core.parts import fill

fill("customer_end", "dues/customer.html")
