"""The parts of earnings on the pages of a person and of a customer, and below the list of orders."""

from core.parts import fill

fill("person", "earnings/person.html")
fill("customer_end", "earnings/customer.html")
fill("order_sums", "earnings/order_sums.html")
