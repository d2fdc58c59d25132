"""Every bound of the paper as a function of numbers, with its constants."""
