"""What people read and write: words, units, and how any table is read."""
