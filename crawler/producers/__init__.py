"""What is crawled, and when: pushes, schedules, and the sources of their URLs."""
