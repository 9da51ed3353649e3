"""Results gone on with: a resume, the reuse of runs, shards merged, and who wrote which rows."""
