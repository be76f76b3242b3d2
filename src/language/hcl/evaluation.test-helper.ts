import { Budget } from './budget.ts';
import type { HclError } from './errors.ts';
import { evaluate } from './evaluate.ts';
import { FileFault, type FunctionFiles } from './functions/ports.ts';
import { standardFunctions } from './functions/standard.ts';
import type { EvaluationLimits } from './limits.ts';
import { parseHclExpression } from './parse.ts';
import type { HclScope } from './scope.ts';
import { Source } from './source.ts';
import { plainOf, type Value } from './value.ts';

const contents: Readonly<Record<string, string | Uint8Array>> = {
  'hello.txt': 'Hello\n',
  'raw.bin': Uint8Array.of(0xff, 0xfe),
  'conf/a.json': '{"a": 1}',
  'conf/b.tpl': 'name=${name}\n',
  'templates/list.tpl': '%{ for n in names ~}\n- ${n}\n%{ endfor ~}\n',
  'templates/broken.tpl': 'a\n  ${nmae}\n',
  'templates/self.tpl': '${templatefile("templates/self.tpl", {})}',
  'conf/deep/c.json': '{}',
};

/** A few files, in `/job`. */
export const someFiles: FunctionFiles = {
  read: (path, lengthMax) => {
    const content = contents[path];
    if (content === undefined) throw new FileFault(`there is no file "${path}"`);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    if (bytes.length > lengthMax) throw new FileFault('the file is too large');
    return bytes;
  },
  exists: (path) => path in contents,
  list: () => Object.keys(contents),
  absolute: (path) => new URL(path, 'file:///job/').pathname,
  home: () => '/home/me',
};

const ports = {
  clock: { nowMs: () => Date.UTC(2026, 0, 31, 18, 4, 5), monotonicMs: () => 0 },
  ids: { uuid: () => 'c0ffee00-0000-4000-8000-000000000001' },
};
const functions = standardFunctions({ ...ports, files: someFiles });
export const functionsWithoutFiles = standardFunctions(ports);

export const variables: ReadonlyMap<string, Value> = new Map<string, Value>([
  [
    'var',
    { region: 'eu', count: 3, names: ['a', 'b'], servers: [{ id: 1 }, { id: 2 }], none: null },
  ],
  ['local', { image: 'web:1' }],
]);

export function scopeOf(
  text: string,
  limits: Partial<EvaluationLimits> = {},
  more: Partial<HclScope> = {},
): HclScope {
  return {
    source: new Source(text, 'job.hcl'),
    variables,
    functions,
    budget: new Budget(limits),
    isKnownLater: (name) => ['attr', 'env', 'NOMAD_TASK_DIR'].includes(name),
    ...more,
  };
}

/** The value of an expression, with its sets. */
export const valueOfText = (
  text: string,
  limits: Partial<EvaluationLimits> = {},
  more: Partial<HclScope> = {},
): Value =>
  evaluate(parseHclExpression(text, { fileName: 'job.hcl' }), scopeOf(text, limits, more));

export const plainOfText = (text: string): unknown =>
  JSON.parse(JSON.stringify(plainOf(valueOfText(text))));

/** The first fault, as `line:column sentence`. */
export function faultOfText(
  text: string,
  limits: Partial<EvaluationLimits> = {},
  more: Partial<HclScope> = {},
): string {
  try {
    return `no fault: ${JSON.stringify(plainOf(valueOfText(text, limits, more)))}`;
  } catch (error) {
    const { line, column, sentence } = error as HclError;
    if (sentence === undefined) throw error;
    return `${line}:${column} ${sentence}`;
  }
}
