"""Units as files: their form on disk, sources, patches, snapshots, logs, test reports, and their state in a world.

Pure but for the files of one unit's folder. Loads nothing and runs nothing of a unit.
"""
