import { drained } from '../base/steps.ts';
import { renderFault } from '../language/hcl/errors.ts';
import { TemplateError } from '../language/template/errors.ts';
import { outsideFunctions } from '../language/template/functions/outside.ts';
import { templateFunctions } from '../language/template/functions/standard.ts';
import { parseTemplate } from '../language/template/parse.ts';
import { renderTemplate } from '../language/template/render.ts';
import { valueOfData } from '../language/template/value.ts';
import { limits } from '../model/limits.ts';
import { CliError } from './errors.ts';
import { plural } from './render/text.ts';

/** The functions of templates without those that read files, services and variables, which tasks have. */
const functions = new Map(
  [...templateFunctions].filter(([name]) => !Object.hasOwn(outsideFunctions, name)),
);

/**
 * A template as a function of the JSON answer, which is its initial `.`.
 * @throws CliError with every fault of the template, or with the fault of a rendering
 */
export function answerTemplate(text: string, nowMs: () => number): (answer: unknown) => string {
  const bounds = { limits: limits.template, functions };
  const template = explained(() => parseTemplate(text, { ...bounds, fileName: 'template' }));
  const environment = { variables: {}, nowMs, lookup: () => null };
  return (answer) =>
    explained(() => {
      const dot = valueOfData(JSON.parse(JSON.stringify(answer ?? null)));
      const rendering = drained(renderTemplate(template, { ...bounds, environment, dot }));
      if (rendering.kind === 'failed') throw rendering.error;
      if (rendering.kind === 'waiting') throw new Error('a template without sources never waits');
      return rendering.text;
    });
}

function explained<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const count = plural(error.faults.length, 'fault');
    const faults = error.faults.map(renderFault).join('\n\n');
    throw new CliError(`The template has ${count}:\n\n${faults}\n`);
  }
}
