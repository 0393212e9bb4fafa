#include "cli/completion.h"

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

void completion_format(const struct program *program, enum completion_shell shell, struct buffer *out)
{
	switch (shell) {
	case COMPLETION_BASH:
		completion_bash(program, out);
		break;
	case COMPLETION_ZSH:
		completion_zsh(program, out);
		break;
	case COMPLETION_FISH:
		completion_fish(program, out);
		break;
	}
}
