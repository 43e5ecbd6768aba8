"""What decides what is crawled, and when: pushes, schedules, and where their URLs come from."""
