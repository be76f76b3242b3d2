import type { CliEnvironment } from './environment.ts';
import { CliError } from './errors.ts';
import type { Options } from './options.ts';

/** Prints the answer of a command for programs: as JSON, or by the template of `-t`. */
export interface AnswerPrinter {
  /** Whether the answer is for programs. Otherwise the command prints for people. */
  readonly isJson: boolean;
  json(value: unknown): Promise<void>;
  /** Prints an answer of many, which has a line of its own. */
  jsonLine(value: unknown): Promise<void>;
}

/** @throws CliError if the template has faults */
export async function answerPrinter(
  { stdout, clock }: Pick<CliEnvironment, 'stdout' | 'clock'>,
  options: Options,
): Promise<AnswerPrinter> {
  const text = options.text('template');
  if (text === undefined) {
    return {
      isJson: options.flag('json'),
      json: (value) => stdout.write(`${JSON.stringify(value, null, 2)}\n`),
      jsonLine: (value) => stdout.write(`${JSON.stringify(value)}\n`),
    };
  }
  if (options.flag('json')) throw new CliError('--json and --template contradict each other.');
  // Most commands need no templates.
  const { answerTemplate } = await import('./answer-template.ts');
  const render = answerTemplate(text, () => clock.nowMs());
  const print = async (value: unknown) => {
    const printed = render(value);
    await stdout.write(printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`);
  };
  return { isJson: true, json: print, jsonLine: print };
}
