"""Pages of the site that are written from the code when it is built, into docs/generated."""
