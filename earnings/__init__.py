"""The shop's earnings: sales, cost and profit, from daily sums that are proved nightly."""
