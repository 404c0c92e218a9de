"""Stories, fragments and block configurations as files in the data folder. All of it blocks; one writer at a time."""
