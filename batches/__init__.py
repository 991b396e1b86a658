"""Many sales from one table: its rows are checked as a whole, released by a person, and sold in the background."""
