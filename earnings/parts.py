"""The parts of earnings on the pages of a person and of a customer."""

from core.parts import fill

fill("person", "earnings/person.html")
fill("customer_end", "earnings/customer.html")
