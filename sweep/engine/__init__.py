"""What runs a sweep: a ledger, a loop over an executor, and who computes: threads or processes."""
