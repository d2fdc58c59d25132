"""The command line: it parses, asks the library and prints."""
