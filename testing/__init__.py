"""Shared by the tests and the benchmarks: services of their own, people, orders, a whole shop as processes."""
