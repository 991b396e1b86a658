"""What the shop earns: sales, cost and profit, from daily sums that are proved nightly."""
