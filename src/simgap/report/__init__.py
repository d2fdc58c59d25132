"""Pages for people, drawn from records on disk.

Every verb takes its words from here, so the page itself is imported on first use.
"""
