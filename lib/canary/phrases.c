#include "canary/phrases.h"

const char *const canary_first_words[CANARY_WORDS] = {
	"amber",  "ancient", "arctic", "blue",   "bold",   "brave",   "bright", "broad",  "bronze",  "busy",  "calm",
	"clever", "cold",    "copper", "coral",  "crisp",  "curious", "dark",   "deep",   "distant", "dry",   "early",
	"empty",  "faint",   "fast",   "fresh",  "gentle", "giant",   "golden", "grand",  "green",   "happy", "heavy",
	"hidden", "hollow",  "humble", "ivory",  "jolly",  "large",   "late",   "light",  "little",  "lone",  "loud",
	"lucky",  "mellow",  "misty",  "narrow", "noble",  "old",     "orange", "pale",   "patient", "plain", "proud",
	"purple", "quick",   "quiet",  "rapid",  "red",    "silent",  "silver", "steady", "white",
};

const char *const canary_second_words[CANARY_WORDS] = {
	"anchor",  "apple", "arrow",   "badger", "basin",  "beacon",  "bell",   "birch",   "bridge", "brook",    "canyon",
	"castle",  "cedar", "cliff",   "cloud",  "comet",  "crane",   "desert", "dolphin", "eagle",  "ember",    "falcon",
	"feather", "field", "forest",  "fox",    "garden", "glacier", "harbor", "hawk",    "heron",  "hill",     "island",
	"jungle",  "lake",  "lantern", "leaf",   "lion",   "maple",   "meadow", "mill",    "moon",   "mountain", "oak",
	"ocean",   "otter", "owl",     "pebble", "pine",   "planet",  "pond",   "prairie", "raven",  "reef",     "river",
	"robin",   "shore", "spruce",  "stone",  "summit", "tiger",   "tower",  "valley",  "willow",
};
