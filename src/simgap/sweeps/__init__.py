"""Many cells of one question: a plan, a ledger, and the machines that run them."""
