/** Names of blocks and attributes, by the tables that job files are read by. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippet,
} from '@codemirror/autocomplete';
import type { Form } from '../../../../src/language/jobspec/form.ts';
import { jobBlock } from '../../../../src/language/jobspec/forms/job.ts';
import { blocksAround, bodyOf, outlineOf } from './outline.ts';

const kinds: Readonly<Record<Exclude<Form['kind'], 'block'>, string>> = {
  text: 'string',
  whole: 'integer',
  flag: 'bool',
  duration: 'duration',
  texts: 'list of strings',
  'text-map': 'map of strings',
  'texts-map': 'map of lists',
  'free-map': 'anything',
};

/** The text that stands for the value. */
const values: Readonly<Record<Exclude<Form['kind'], 'block'>, string>> = {
  text: '= "${}"',
  whole: '= ${}',
  flag: '= ${true}',
  duration: '= "${30s}"',
  texts: '= ["${}"]',
  'text-map': '{\n\t${}\n}',
  'texts-map': '{\n\t${}\n}',
  'free-map': '{\n\t${}\n}',
};

const atTop: readonly Completion[] = [
  blockOption('job', true, jobBlock.about),
  blockOption('variable', true, 'A value that is given when the job is planned.'),
  blockOption('locals', false, 'Names for values.'),
];

export function complete(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const typed = /^\s*([\p{L}_][\p{L}\p{N}_-]*)?$/u.exec(before);
  if (typed === null || (typed[1] === undefined && !context.explicit)) return null;
  const from = context.pos - (typed[1]?.length ?? 0);
  const around = blocksAround(outlineOf(context.state.doc.toString()), from);
  if (around === undefined) return null;
  if (around.length === 1) return { from, options: atTop, validFor: /^[\w-]*$/ };
  const present = new Set(around.at(-1)!.attributes.map(({ name }) => name));
  const forms = [...(bodyOf(jobBlock.body, around)?.forms ?? [])];
  const options = forms
    .filter(([name]) => !present.has(name))
    .map(([name, form]) => option(name, form));
  return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
}

function option(name: string, form: Form): Completion {
  if (form.kind === 'block') return blockOption(name, form.label !== undefined, form.about);
  return {
    label: name,
    type: 'property',
    detail: kinds[form.kind],
    info: form.about,
    apply: snippet(`${name} ${values[form.kind]}`),
  };
}

function blockOption(name: string, hasLabel: boolean, about: string): Completion {
  return {
    label: name,
    type: 'class',
    detail: 'block',
    info: about,
    apply: snippet(hasLabel ? `${name} "\${1}" {\n\t\${2}\n}` : `${name} {\n\t\${}\n}`),
  };
}
