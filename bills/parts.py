"""The part of bills on the page of the order that pays one."""

from core.parts import fill

fill("order_step", "bills/order_step.html")
fill("order_facts", "bills/order_facts.html")
