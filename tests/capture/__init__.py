"""What a report takes of any value, and the text that is made of it."""
