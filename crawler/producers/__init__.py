"""What decides what is crawled, and when: schedules, and where their URLs come from."""
