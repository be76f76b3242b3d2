/** A section of a page, as commands. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../support/agent.ts';
import { blocksOf } from './blocks.ts';

/** @throws Error if the page has no such section */
function sectionOf(page: string, title: string): string {
  const [, section] = readFileSync(join(checkout, page), 'utf8').split(`\n## ${title}\n`);
  if (section === undefined) throw new Error(`${page} has no section "${title}"`);
  return section.split('\n## ')[0]!;
}

/** The commands of a section, one a line. */
export const commandsOf = (page: string, title: string): string[] =>
  blocksOf(sectionOf(page, title)).flatMap(({ language, text }) =>
    language === 'sh' ? text.trim().split('\n') : [],
  );

/**
 * A section as a script for bash. The agent "in a terminal of its own" runs in the background from the moment on when it
 * is ready.
 */
export function scriptOf(page: string, title: string): string {
  const lines = blocksOf(sectionOf(page, title)).map(({ language, text, above }) => {
    const file = /^`([\w.-]+)`:$/.exec(above)?.[1];
    if (file !== undefined) return `cat > ${file} <<'END'\n${text}END\n`;
    if (language !== 'sh')
      throw new Error(`a block of ${language} is neither a file nor a command`);
    return /terminal of its own:$/.test(above) ? inBackground(text.trim()) : text;
  });
  return `set -e\n${lines.join('')}`;
}

const inBackground = (command: string): string => `
mkfifo agent.out
${command} > agent.out &
sed '/^Ctrl-C/q' < agent.out
`;
