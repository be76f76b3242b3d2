/** The variables that a job file declares, as far as a form needs them. */
import type { Block } from './outline.ts';

export interface Declared {
  readonly name: string;
  readonly description: string;
  /** As it is written: `string`, `list(string)`; empty if absent. */
  readonly type: string;
  /** As it is written; `undefined`: a value is needed. */
  readonly fallback: string | undefined;
}

export function variablesOf(root: Block, text: string): readonly Declared[] {
  return root.blocks
    .filter(({ type, labels }) => type === 'variable' && labels[0] !== undefined)
    .map((block) => {
      const written = (name: string): string | undefined => {
        const found = block.attributes.find((one) => one.name === name);
        return (
          found &&
          text
            .slice(found.from, found.to)
            .replace(/^[^=]*=\s*/, '')
            .trim()
        );
      };
      return {
        name: block.labels[0]!,
        description: unquoted(written('description') ?? ''),
        type: written('type') ?? '',
        fallback: written('default'),
      };
    });
}

const unquoted = (text: string): string => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
};

/** Whether what is typed is a text, so that it needs no quotes. */
export const isText = ({ type, fallback }: Declared): boolean =>
  type === 'string' || (type === '' && (fallback === undefined || /^["<]/.test(fallback)));

/** The values in the form of a file of variables. Fields that were left empty have no value. */
export function variablesText(
  declared: readonly Declared[],
  values: Readonly<Record<string, string>>,
): string {
  return declared
    .filter(({ name }) => (values[name] ?? '') !== '')
    .map((one) => `${one.name} = ${isText(one) ? quoted(values[one.name]!) : values[one.name]}\n`)
    .join('');
}

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll('${', '$${').replaceAll('%{', '%%{');
