"""What the tests and the benchmarks share: services of their own, people, orders, a whole shop as processes."""
