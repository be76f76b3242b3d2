/**
 * Parses the variables of a rendered file: `NAME=value` or `export NAME=value` on each line. Empty
 * lines and lines that begin with `#` are skipped. A value in single quotes is literal, double
 * quotes know ` `, `\t`, `\r`, `\"`, `\\` and `\$`; without quotes it ends at ` #`.
 * @throws Error with the number of the line, but never with its content
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
