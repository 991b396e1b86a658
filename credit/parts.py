"""The part of credit on the page of a customer."""

from core.parts import fill

fill("customer", "credit/customer_credit.html")
