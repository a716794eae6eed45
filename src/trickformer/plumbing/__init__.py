"""Infrastructure of the commands, independent of games: configs, run folders, parallel work, progress and reports.

The room imports nothing of the package but `base`.
"""
