"""Item pipelines, one concern per file."""
