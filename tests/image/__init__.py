"""The image: its Dockerfile's steps, run where no container engine is."""
