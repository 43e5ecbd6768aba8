"""What was stored about a document's visits, and which documents are due for the next one."""
