"""What an agent is: the interface, and policies with explicit memory."""
