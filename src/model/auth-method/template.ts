/**
 * Names with `${…}` in them: `web-${serviceaccount.name}`. `$${` stands for a plain `${`. Only variables are
 * known, no functions. Source: docs/behaviour/access-control.md#bind-names.
 */
export type Template = readonly (string | { readonly variable: string })[];

/** The parts of the text, or a sentence that tells the fault of the text. */
export function parseTemplate(text: string, variables: readonly string[]): Template | string {
  const parts: (string | { readonly variable: string })[] = [];
  let plain = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      plain += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      const end = text.indexOf('}', at);
      if (end < 0) return `has a "\${" at position ${at} that is not closed`;
      const variable = text.slice(at + 2, end).trim();
      if (!variables.includes(variable)) return unknownVariable(variable, variables);
      parts.push(plain, { variable });
      plain = '';
      at = end + 1;
    } else {
      plain += text[at];
      at++;
    }
  }
  return [...parts, plain].filter((part) => part !== '');
}

function unknownVariable(variable: string, variables: readonly string[]): string {
  const known =
    variables.length === 0 ? 'this method gives none' : `there are ${variables.join(', ')}`;
  return `has the unknown variable "${variable}": ${known}`;
}

export const renderTemplate = (
  template: Template,
  variables: ReadonlyMap<string, string>,
): string =>
  template
    .map((part) => (typeof part === 'string' ? part : (variables.get(part.variable) ?? '')))
    .join('');

/** The name with every variable replaced by a name that is valid everywhere. */
export const renderSample = (template: Template): string =>
  template.map((part) => (typeof part === 'string' ? part : 'sample')).join('');
