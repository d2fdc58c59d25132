"""What all verbs share: the entry point, options, output, errors."""
