"""People's acts as typed events, and the evidence that nobody changed a row afterwards."""
