"""Who understands whom: players who share a score at one table, each with itself and with every other one."""
