"""The parts of earnings on the pages of a person, of a customer and of a price rule, and below the list of orders."""

from core.parts import fill

fill("person", "earnings/person.html")
fill("customer_end", "earnings/customer.html")
fill("price_rule_earns", "earnings/price_rule.html")
fill("order_sums", "earnings/order_sums.html")
