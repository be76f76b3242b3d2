import { durationMs } from '../../../base/duration.ts';
import { delay } from '../../../base/ports.ts';
import {
  type Dependency,
  dependencyKey,
  describeDependency,
} from '../../../language/template/run-context.ts';
import { limits } from '../../../model/limits.ts';
import * as events from '../../task-runner/events.ts';
import {
  HookFailure,
  type StartedRun,
  type TaskHook,
  type TaskHookContext,
  type TaskHookFactory,
} from '../hook.ts';
import { ChangeReactions } from './change-reactions.ts';
import { taskPath } from './task-path.ts';
import { TaskTemplate, TemplateFailure } from './task-template.ts';
import { isWritten, readSource, writeRendered } from './template-files.ts';
import { type TemplatesOptions, TemplateWatches } from './template-watches.ts';

/** Renders the templates of a task. Source: docs/guides/templates.md#when-data-changes. */
export const templatesHook =
  (options: TemplatesOptions): TaskHookFactory =>
  (context) =>
    (context.task().Templates ?? []).length === 0 ? undefined : new TemplatesHook(context, options);

/**
 * Invariants
 *  T1. No run begins before every template is rendered and its file written.
 *  T2. A file is replaced as a whole, and only when the rendered text differs.
 *  T3. Changes at about the same time cause one reaction: a restart replaces signals and scripts.
 *  T4. After a failure while the task runs, its files stay as they are: the task gets an event, and
 *      goes on.
 *  T5. Nothing here keeps the task from being ended: every wait ends with `over` or `close`.
 */
class TemplatesHook implements TaskHook {
  readonly name = 'template';
  readonly #context: TaskHookContext;
  readonly #options: TemplatesOptions;
  readonly #watches: TemplateWatches;
  readonly #reactions: ChangeReactions;
  readonly #closed = new AbortController();
  #templates: readonly TaskTemplate[] = [];
  #woken = Promise.withResolvers<void>();
  /** One rendering at a time. */
  #work: Promise<void> = Promise.resolve();

  constructor(context: TaskHookContext, options: TemplatesOptions) {
    this.#context = context;
    this.#options = options;
    this.#watches = new TemplateWatches(context, options, (key) => this.#sawChange(key));
    this.#reactions = new ChangeReactions({
      context,
      isOver: () => this.#isOver,
      rendered: () => this.#finishWork(),
      inBackground: (work) => this.#inBackground(work),
    });
  }

  async beforeStart(): Promise<Readonly<Record<string, string>>> {
    try {
      await this.#readTemplates();
      await this.#renderAll({ isFirst: true });
      await this.#inOrder(async () => {
        for (const template of this.#templates) await this.#write(template);
      });
    } catch (error) {
      if (!(error instanceof TemplateFailure)) throw error;
      throw new HookFailure(failedEvent(error), error.message, error.recoverable);
    }
    this.#reactions.clear();
    return Object.assign({}, ...this.#templates.map(({ variables }) => variables));
  }

  started({ isRestored }: StartedRun): void {
    const mustResume = isRestored && this.#templates.length === 0;
    for (const { template } of this.#templates) {
      const runs = template.ChangeMode === 'script' && template.ChangeScript?.RunOnFirstRender;
      if (runs) this.#inBackground(this.#reactions.runScripts([template.ChangeScript!]));
    }
    this.#reactions.begin();
    if (mustResume) this.#inBackground(this.#resume());
  }

  async ending(): Promise<void> {
    this.#reactions.end();
  }

  async ended(): Promise<void> {
    this.#reactions.end();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#reactions.end();
    for (const { timer } of this.#templates) timer?.clear();
    this.#watches.close();
    this.#wake();
  }

  #wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers();
  }

  get #isOver(): boolean {
    return this.#closed.signal.aborted || this.#context.over.aborted;
  }

  /** Reads the templates themselves; templates in files are read anew for each run. */
  async #readTemplates(): Promise<void> {
    const { task, directories, environment } = this.#context;
    const { lookup } = environment();
    if (this.#templates.length === 0) {
      this.#templates = (task().Templates ?? []).map(
        (template) => new TaskTemplate(template, taskPath(template.DestPath, lookup, directories)),
      );
    }
    const { defences } = this.#options;
    for (const one of this.#templates) {
      if (!one.isDone) one.parse(await readSource(one.template, this.#context, defences));
    }
  }

  /** Renders for a run of an earlier agent, whose files may be out of date. */
  async #resume(): Promise<void> {
    try {
      await this.#readTemplates();
      await this.#renderAll({ isFirst: false });
      await this.#inOrder(async () => {
        for (const template of this.#templates) {
          if (await isWritten(template)) continue;
          await this.#write(template);
          this.#reactions.note(template);
        }
      });
      this.#reactions.schedule();
    } catch (error) {
      this.#noteMessage((error as Error).message);
    }
  }

  /** Waits until every template is rendered, and reports missing values from time to time. */
  async #renderAll({ isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { timers } = this.#context.world;
    let toldMs = limits.template.missingFirstMs;
    // Values that failed for the run before are tried again.
    this.#watches.dropFailed();
    while (!this.#isOver) {
      const woken = this.#woken.promise;
      const missing = await this.#tryAll();
      if (missing.length === 0) return;
      if (isFirst) this.#watches.failOn(missing);
      const timeUp = new AbortController();
      const stop = AbortSignal.any([timeUp.signal, this.#closed.signal, this.#context.over]);
      const told = delay(timers, toldMs, stop).then(() => 'time' as const);
      const first = await Promise.race([woken, told]);
      timeUp.abort();
      if (first !== 'time' || this.#isOver) continue;
      this.#noteMessage(missingText(missing));
      toldMs = Math.min(toldMs * 2, limits.template.missingMaxMs);
    }
    // Nobody waits for the result any more.
    if (isFirst) await new Promise<never>(() => {});
  }

  /** Tries all templates that are not rendered yet, and resolves with their missing values. */
  async #tryAll(): Promise<readonly Dependency[]> {
    const missing = new Map<string, Dependency>();
    await this.#inOrder(async () => {
      for (const template of this.#templates) {
        if (template.isDone) continue;
        const rendering = await template.render(this.#watches.environment(), this.#context.world);
        if (rendering.kind === 'rendered') template.accept(rendering.text);
        else for (const one of rendering.missing) missing.set(dependencyKey(one), one);
      }
      this.#dropUnread();
    });
    return [...missing.values()];
  }

  #dropUnread(): void {
    const watching = this.#templates.filter(({ isDone }) => !isDone);
    this.#watches.dropUnread((key) => watching.some(({ reads }) => reads.has(key)));
  }

  #sawChange(key: string): void {
    if (this.#isOver) return;
    this.#wake();
    for (const template of this.#templates) {
      const isConcerned =
        template.text !== undefined && !template.isDone && template.reads.has(key);
      if (isConcerned) this.#renderLater(template);
    }
  }

  /** Renders when nothing has changed for a while, but after a bounded time in any case. */
  #renderLater(template: TaskTemplate): void {
    const { clock, timers } = this.#context.world;
    const { waitMinMs, waitMaxMs } = limits.template;
    const { Wait } = template.template;
    const minMs = Wait === null ? waitMinMs : durationMs(Wait.Min);
    const maxMs = Wait === null ? waitMaxMs : durationMs(Wait.Max);
    template.changingSinceMs ??= clock.nowMs();
    const latestMs = template.changingSinceMs + Math.max(minMs, maxMs) - clock.nowMs();
    template.timer?.clear();
    template.timer = timers.after(Math.max(0, Math.min(minMs, latestMs)), () => {
      template.changingSinceMs = undefined;
      this.#inBackground(this.#inOrder(() => this.#renderAgain(template)));
    });
  }

  async #renderAgain(template: TaskTemplate): Promise<void> {
    if (this.#isOver) return;
    const rendering = await template.render(this.#watches.environment(), this.#context.world);
    this.#dropUnread();
    if (rendering.kind === 'waiting') return this.#noteGone(rendering.missing);
    if (this.#isOver || !template.accept(rendering.text)) return;
    await this.#write(template);
    this.#reactions.note(template);
    this.#reactions.schedule();
  }

  /** Reports values that no longer exist. New values are only unknown yet. */
  #noteGone(missing: readonly Dependency[]): void {
    const gone = missing.filter((one) => !this.#watches.isPending(one));
    if (gone.length > 0) this.#noteMessage(missingText(gone));
  }

  async #write(template: TaskTemplate): Promise<void> {
    if (!this.#isOver) await writeRendered(template, this.#context, this.#options.defences);
  }

  /** Runs renderings and writes one after the other. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  /** Waits also for work that begins meanwhile. */
  async #finishWork(): Promise<void> {
    for (let work: Promise<void> | undefined; work !== this.#work; ) {
      work = this.#work;
      await work;
    }
  }

  /** T4: a failure becomes an event of the task, and ends nothing. */
  #inBackground(work: Promise<void>): void {
    work.catch((error: Error) => {
      if (!this.#isOver) this.#context.note(failedEvent(error));
    });
  }

  #noteMessage(message: string): void {
    if (!this.#isOver) this.#context.note(events.hookMessage('Template', message));
  }
}

const failedEvent = (error: Error): events.EventAt =>
  events.hookFailed(
    'template',
    error.message,
    error instanceof TemplateFailure ? error.explained : undefined,
  );

function missingText(missing: readonly Dependency[]): string {
  const { missingToldMax } = limits.template;
  const told = missing.slice(0, missingToldMax).map(describeDependency).join(', ');
  const more =
    missing.length > missingToldMax ? `, and ${missing.length - missingToldMax} more` : '';
  return `Missing: ${told}${more}`;
}
