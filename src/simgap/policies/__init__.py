"""What an agent is; filled by the issues that need more than a table of actions."""
