import type { Timer, World } from '../../../base/ports.ts';
import { inSlices, type Step, takeSlice } from '../../../base/slices.ts';
import { renderFault } from '../../../language/hcl/errors.ts';
import { TemplateError } from '../../../language/template/errors.ts';
import { templateFunctions } from '../../../language/template/functions/standard.ts';
import { parseTemplate } from '../../../language/template/parse.ts';
import { type Rendering, renderTemplate } from '../../../language/template/render.ts';
import { dependencyKey, type TemplateEnvironment } from '../../../language/template/run-context.ts';
import type { Template as ParsedTemplate } from '../../../language/template/syntax.ts';
import { limits } from '../../../model/limits.ts';
import type { Template } from '../../../model/task/files.ts';
import { parseEnvLines } from './env-lines.ts';
import type { TaskPath } from './task-path.ts';

/** Why a template cannot be rendered, for the user. */
export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure';
  /** Whether it may render with other data. */
  readonly recoverable: boolean;
  /** The message, with the lines of the template. */
  readonly explained: string;

  constructor(message: string, recoverable: boolean, explained = message) {
    super(message);
    this.recoverable = recoverable;
    this.explained = explained;
  }
}

/** One template of a task, with its last result. */
export class TaskTemplate {
  readonly template: Template;
  readonly destination: TaskPath;
  /** The last rendered text; `undefined` before the first. */
  text: string | undefined;
  variables: Readonly<Record<string, string>> = {};
  /** Keys of the values that its last attempt read. */
  reads: ReadonlySet<string> = new Set();
  /** When its values first changed after the last rendering. */
  changingSinceMs: number | undefined;
  timer: Timer | undefined;
  #parsed: ParsedTemplate | undefined;

  constructor(template: Template, destination: TaskPath) {
    this.template = template;
    this.destination = destination;
  }

  get name(): string {
    return this.template.DestPath;
  }

  /** It is rendered, and will not be again. */
  get isDone(): boolean {
    return this.template.Once && this.text !== undefined;
  }

  /** @throws TemplateFailure */
  parse(text: string): void {
    const { LeftDelim, RightDelim, SourcePath } = this.template;
    try {
      this.#parsed = parseTemplate(text, {
        limits: limits.template,
        functions: templateFunctions,
        leftDelimiter: LeftDelim,
        rightDelimiter: RightDelim,
        fileName: SourcePath || this.name,
      });
    } catch (error) {
      if (error instanceof TemplateError) throw failureOf(error, false);
      throw error;
    }
  }

  /** @throws TemplateFailure */
  async render(
    environment: TemplateEnvironment,
    world: Pick<World, 'clock' | 'timers'>,
  ): Promise<Exclude<Rendering, { kind: 'failed' }>> {
    if (this.#parsed === undefined) throw new Error('a template is parsed before it is rendered');
    const steps = renderTemplate(this.#parsed, {
      limits: limits.template,
      functions: templateFunctions,
      failsOnMissingKey: this.template.ErrMissingKey,
      environment,
    });
    const take = (step: Step) => takeSlice(step, world.clock, limits.template);
    const rendering = (await inSlices(steps, take, world.timers))!;
    this.reads = new Set(rendering.dependencies.map(dependencyKey));
    if (rendering.kind !== 'failed') return rendering;
    throw failureOf(rendering.error, rendering.dependencies.length > 0);
  }

  /** Takes over a rendered text. `false`: it is unchanged. @throws TemplateFailure */
  accept(text: string): boolean {
    if (this.text === text) return false;
    if (this.template.Envvars) {
      try {
        this.variables = parseEnvLines(text);
      } catch (error) {
        throw new TemplateFailure(`${this.name}: ${(error as Error).message}`, this.reads.size > 0);
      }
    }
    this.text = text;
    return true;
  }
}

function failureOf({ faults, kind }: TemplateError, hasData: boolean): TemplateFailure {
  const shown = faults.map(renderFault);
  const sentences = shown.map((text) => text.split('\n')[0]).join('; ');
  return new TemplateFailure(sentences, hasData && kind !== 'syntax', shown.join('\n'));
}
