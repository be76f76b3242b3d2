import { drained } from '../../base/steps.ts';
import type { TemplateLimits } from './budget.ts';
import { templateFunctions } from './functions/standard.ts';
import { type ParseOptions, parseTemplate } from './parse.ts';
import { type Rendering, type RenderOptions, renderTemplate } from './render.ts';
import type { TemplateEnvironment } from './run-context.ts';
import { record, type TemplateValue } from './value.ts';

export const testLimits: TemplateLimits = {
  textLengthMax: 256 * 1024,
  nestingMax: 100,
  stepsMax: 1_000_000,
  callStepsMax: 250_000,
  sizeMax: 8 * 1024 * 1024,
  outputLengthMax: 4 * 1024 * 1024,
  depthMax: 200,
  dependenciesMax: 128,
};

const web = (number: number, port: bigint): TemplateValue =>
  record({
    ID: `web-${number}`,
    Name: 'web',
    Address: `10.0.0.${number}`,
    Port: port,
    Tags: ['blue'],
    Node: `n${number}`,
  });

/** The environment of the examples in the reference. */
const outside: Readonly<Record<string, TemplateValue>> = {
  'service web': [web(1, 8080n), web(2, 8081n)],
  'service none': [],
  'services ': [record({ Name: 'web', Tags: ['blue'] })],
  'variable roster/jobs/shop': new Map([
    ['colour', 'blue'],
    ['count', '3'],
  ]),
  'variable roster/jobs/none': null,
  'variables roster/': [record({ Path: 'roster/jobs/shop', Namespace: 'default' })],
  'file local/name.txt': 'shop\n',
};

export const testEnvironment: TemplateEnvironment = {
  variables: { ROSTER_TASK_NAME: 'app', EMPTY: '', COLOUR: 'red' },
  nowMs: () => Date.UTC(2026, 1, 3, 16, 5, 6),
  lookup: ({ kind, name }) => outside[`${kind} ${name}`],
};

export const render = (
  text: string,
  options: Partial<RenderOptions & Omit<ParseOptions, 'functions'>> = {},
): Rendering => {
  const both = { limits: testLimits, ...options, functions: templateFunctions };
  const template = parseTemplate(text, both);
  return drained(renderTemplate(template, { environment: testEnvironment, ...both }));
};

/** The rendered text. Throws if the rendering fails or waits. */
export function rendered(text: string, options: Parameters<typeof render>[1] = {}): string {
  const rendering = render(text, options);
  if (rendering.kind === 'rendered') return rendering.text;
  if (rendering.kind === 'failed') throw rendering.error;
  throw new Error(`waits for ${rendering.missing.map(({ name }) => name).join(', ')}`);
}
