"""What the bank says, beside what the shop's books say should have reached it."""
