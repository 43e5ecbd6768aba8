"""Everything that touches MongoDB: connection, documents, the batching writer, change history, reading back."""
