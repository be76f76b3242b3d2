import type { LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { shellScripts } from './scripts.ts';

const shells = Object.keys(shellScripts);

export const completion: LocalCommand = {
  words: ['completion'],
  summary: 'Print a completion script for your shell.',
  definition: {
    arguments: [
      {
        name: 'SHELL',
        kind: 'word',
        isRequired: true,
        description: `One of ${shells.join(', ')}.`,
        choices: shells,
      },
    ],
    details: `Commands, options and the ids of what is running are completed. To have it for good:
  bash  roster completion bash > ~/.local/share/bash-completion/completions/roster
  zsh   roster completion zsh > "\${fpath[1]}/_roster"
  fish  roster completion fish > ~/.config/fish/completions/roster.fish`,
  },
  async runLocally({ stdout }, [shell]) {
    const script = Object.hasOwn(shellScripts, shell!) ? shellScripts[shell!] : undefined;
    if (script === undefined) {
      throw new CliError(`There is no completion for "${shell}".`, {
        hint: `Give one of ${shells.join(', ')}.`,
      });
    }
    await stdout.write(script);
    return exitCodes.ok;
  },
};
