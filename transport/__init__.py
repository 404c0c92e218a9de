"""Floor 4: HTTP. Translates between the wire and messages; holds no state that outlives a request."""
