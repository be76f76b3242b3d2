/**
 * Whether what was printed is what the guide shows. `…` in a line stands for any text, alone on a
 * line for any lines. How many spaces stand between columns is not compared: that depends on the
 * longest entry. A command on a busy machine tells that an evaluation is pending, which a guide need not show.
 */
export function matchesOutput(printed: string, shown: string): boolean {
  const pattern = linesOf(shown).map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n`,
  );
  const text = linesOf(printed)
    .filter((line) => shown.includes(' is pending') || !pending.test(line))
    .map((line) => `${line}\n`);
  return new RegExp(`^${pattern.join('')}$`).test(text.join(''));
}

const pending = /^Evaluation \S+ \(\S+\) is pending/;

const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trimEnd().replace(/(?<=\S) {2,}/g, '  '));

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
