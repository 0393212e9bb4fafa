The shop is shut.

@highlight

Shop shuts
