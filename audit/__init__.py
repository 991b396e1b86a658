"""What people did, as typed events, and the evidence that nobody changed a row afterwards."""
