"""What commands do once their command line is read; here the library is imported at the top."""
