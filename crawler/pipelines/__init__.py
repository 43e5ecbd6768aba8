"""What an item passes through on its way into storage, one concern per file."""
