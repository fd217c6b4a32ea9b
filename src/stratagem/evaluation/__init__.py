"""What an agent's play is worth: metrics with their uncertainty, exact figures beside them, suites and tournaments."""
