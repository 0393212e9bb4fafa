A goat came to town.

It went home later.

@highlight

Goat visits town

@highlight

It leaves again
