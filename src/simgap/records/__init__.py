"""One typed record for each answer: for Python, in JSON, on disk and on the page."""
