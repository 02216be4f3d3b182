"""Files as a careful assistant would read them, and a record of what was done to their cells."""
