/**
 * The variables of a rendered file: `NAME=value` a line, with `export` in front or without, empty
 * lines and those that begin with `#` left out. A value in single quotes is as it is, one in double
 * quotes knows `\n`, `\t`, `\r`, `\"`, `\\` and `\$`; without quotes it ends at ` #`.
 * @throws Error with the number of the line, and never with what is in it
 */
export function parseEnvLines(text: string): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  text.split('\n').forEach((written, index) => {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) return;
    const found = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/s.exec(line);
    const fault = (what: string): Error => new Error(`line ${index + 1} ${what}`);
    if (found === null) throw fault('does not have the form NAME=value');
    const [, name = '', value = ''] = found;
    variables[name] = valueIn(value, fault);
  });
  return variables;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function valueIn(written: string, fault: (what: string) => Error): string {
  const [quote] = written;
  if (quote !== '"' && quote !== "'") return written.replace(/(?:^|\s+)#.*$/s, '').trimEnd();
  const form = quote === "'" ? /^'([^']*)'(.*)$/s : /^"((?:[^"\\]|\\.)*)"(.*)$/s;
  const found = form.exec(written);
  if (found === null) throw fault('has no closing quote');
  const [, inside = '', rest = ''] = found;
  if (!/^\s*(?:#.*)?$/s.test(rest)) throw fault('goes on behind the closing quote');
  if (quote === "'") return inside;
  return inside.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}
