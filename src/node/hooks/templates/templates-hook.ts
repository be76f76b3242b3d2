import { durationMs } from '../../../base/duration.ts';
import { delay, type Timer } from '../../../base/ports.ts';
import {
  type Dependency,
  dependencyKey,
  describeDependency,
  type TemplateEnvironment,
} from '../../../language/template/run-context.ts';
import { limits } from '../../../model/limits.ts';
import type { Defences } from '../../defences.ts';
import { readBelow, writeBelow } from '../../files.ts';
import * as events from '../../task-runner/events.ts';
import type { IdentitySource } from '../../workload/identity-source.ts';
import { WorkloadToken } from '../../workload/workload-token.ts';
import {
  HookFailure,
  type StartedRun,
  type TaskHook,
  type TaskHookContext,
  type TaskHookFactory,
} from '../hook.ts';
import { runChangeScript } from './change-script.ts';
import { WatchedFile } from './file-data.ts';
import { reactionTo } from './reaction.ts';
import { taskPath } from './task-path.ts';
import { TaskTemplate, TemplateFailure } from './task-template.ts';
import type { DataReader, DataWatch, TemplateData } from './template-data.ts';

export interface TemplatesOptions {
  /** Absent: templates that read services or variables fail. */
  readonly data?: TemplateData | undefined;
  /** Issues the tokens for reading; absent: templates read without a token. */
  readonly identities?: IdentitySource | undefined;
  readonly defences?: Defences | undefined;
}

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
  readonly #token: WorkloadToken | undefined;
  readonly #watches = new Map<string, DataWatch>();
  readonly #closed = new AbortController();
  #templates: readonly TaskTemplate[] = [];
  /** Templates that changed since the run began, before a reaction. */
  readonly #changed = new Set<TaskTemplate>();
  #reactionTimer: Timer | undefined;
  /** Resolves at the next change of a value. */
  #woken = Promise.withResolvers<void>();
  /** The run may react to changes. */
  #isRunning = false;
  /** One rendering at a time. */
  #work: Promise<void> = Promise.resolve();

  constructor(context: TaskHookContext, options: TemplatesOptions) {
    this.#context = context;
    this.#options = options;
    const { identities } = options;
    const workload = { allocation: context.allocation().ID, task: context.task().Name };
    this.#token = identities && new WorkloadToken(identities, workload, context.world.clock);
  }

  async beforeStart(): Promise<Readonly<Record<string, string>>> {
    try {
      await this.#prepare();
      await this.#renderAll({ isFirst: true });
      await this.#inOrder(async () => {
        for (const template of this.#templates) await this.#write(template);
      });
    } catch (error) {
      if (!(error instanceof TemplateFailure)) throw error;
      throw new HookFailure(failedEvent(error), error.message, error.recoverable);
    }
    this.#changed.clear();
    return Object.assign({}, ...this.#templates.map(({ variables }) => variables));
  }

  started({ isRestored }: StartedRun): void {
    this.#isRunning = true;
    if (isRestored && this.#templates.length === 0) {
      this.#inBackground(this.#resume());
      return;
    }
    for (const { template } of this.#templates) {
      const runs = template.ChangeMode === 'script' && template.ChangeScript?.RunOnFirstRender;
      if (runs) this.#inBackground(this.#runScripts([template.ChangeScript!]));
    }
    if (this.#changed.size > 0) this.#scheduleReaction();
  }

  async ending(): Promise<void> {
    this.#isRunning = false;
    this.#reactionTimer?.clear();
  }

  async ended(): Promise<void> {
    this.#isRunning = false;
    this.#reactionTimer?.clear();
    this.#reactionTimer = undefined;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#isRunning = false;
    this.#reactionTimer?.clear();
    for (const { timer } of this.#templates) timer?.clear();
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
    this.#wake();
  }

  /** Wakes the waiting renderings. */
  #wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers();
  }

  get #isOver(): boolean {
    return this.#closed.signal.aborted || this.#context.over.aborted;
  }

  /** Reads the templates themselves; templates in files are read anew for each run. */
  async #prepare(): Promise<void> {
    const { task, directories, environment } = this.#context;
    const { lookup } = environment();
    if (this.#templates.length === 0) {
      this.#templates = (task().Templates ?? []).map(
        (template) => new TaskTemplate(template, taskPath(template.DestPath, lookup, directories)),
      );
    }
    for (const one of this.#templates) if (!one.isDone) one.parse(await this.#sourceOf(one));
  }

  async #sourceOf({ template }: TaskTemplate): Promise<string> {
    const { SourcePath, EmbeddedTmpl } = template;
    if (SourcePath === '') return EmbeddedTmpl;
    const { directories, environment } = this.#context;
    const { directory, path } = taskPath(SourcePath, environment().lookup, directories);
    const { defences } = this.#options;
    const most = limits.template.textLengthMax;
    const bytes = await readBelow(directory, path, most, defences).catch((error: Error) => {
      throw new TemplateFailure(`the template cannot be read: ${error.message}`, true);
    });
    if (bytes !== undefined) return Buffer.from(bytes).toString('utf8');
    throw new TemplateFailure(`there is no template ${JSON.stringify(path)}`, true);
  }

  /** Renders for a run of an earlier agent, whose files may be out of date. */
  async #resume(): Promise<void> {
    try {
      await this.#prepare();
      await this.#renderAll({ isFirst: false });
      await this.#inOrder(async () => {
        for (const template of this.#templates) {
          if (await this.#isWritten(template)) continue;
          await this.#write(template);
          this.#changed.add(template);
        }
      });
      if (this.#changed.size > 0) this.#scheduleReaction();
    } catch (error) {
      this.#note((error as Error).message);
    }
  }

  /** Waits until every template is rendered, and reports missing values from time to time. */
  async #renderAll({ isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { timers } = this.#context.world;
    let toldMs = limits.template.missingFirstMs;
    for (const [key, watch] of this.#watches) {
      // Values that failed for the run before are tried again.
      if (watch.state.kind !== 'failed') continue;
      watch.close();
      this.#watches.delete(key);
    }
    while (!this.#isOver) {
      const woken = this.#woken.promise;
      const missing = await this.#tryAll();
      if (missing.length === 0) return;
      if (isFirst) this.#failOn(missing);
      const timeUp = new AbortController();
      const stop = AbortSignal.any([timeUp.signal, this.#closed.signal, this.#context.over]);
      const told = delay(timers, toldMs, stop).then(() => 'time' as const);
      const first = await Promise.race([woken, told]);
      timeUp.abort();
      if (first !== 'time' || this.#isOver) continue;
      this.#note(missingText(missing));
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
        const rendering = await template.render(this.#environment(), this.#context.world);
        if (rendering.kind === 'rendered') template.accept(rendering.text);
        else for (const one of rendering.missing) missing.set(dependencyKey(one), one);
      }
      this.#dropUnread();
    });
    return [...missing.values()];
  }

  /** Fails for missing values whose attempts have failed. */
  #failOn(missing: readonly Dependency[]): void {
    for (const dependency of missing) {
      const state = this.#watches.get(dependencyKey(dependency))?.state;
      if (state?.kind !== 'failed') continue;
      const name = describeDependency(dependency);
      throw new TemplateFailure(`${name} cannot be read: ${state.reason}`, true);
    }
  }

  #environment(): TemplateEnvironment {
    const { environment, world } = this.#context;
    return {
      variables: environment().variables,
      nowMs: () => world.clock.nowMs(),
      lookup: (dependency) => {
        const { state } = this.#watch(dependency);
        return state.kind === 'known' ? state.value : undefined;
      },
    };
  }

  #watch(dependency: Dependency): DataWatch {
    const key = dependencyKey(dependency);
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = this.#newWatch(dependency, () => this.#sawChange(key));
    this.#watches.set(key, watch);
    return watch;
  }

  #newWatch(dependency: Dependency, onChange: () => void): DataWatch {
    const { directories, environment, world, allocation } = this.#context;
    if (dependency.kind === 'file') {
      const file = taskPath(dependency.name, environment().lookup, directories);
      const { defences } = this.#options;
      return new WatchedFile(file, world.timers, { defences, onChange });
    }
    const { data } = this.#options;
    if (data === undefined) {
      return { state: { kind: 'failed', reason: 'this node has no servers' }, close: () => {} };
    }
    return data.watch(dependency, { namespace: allocation().Namespace, ...this.#shown }, onChange);
  }

  /** The identity and token with which the task's templates read. */
  get #shown(): Pick<DataReader, 'identity' | 'token' | 'refused'> {
    const token = this.#token;
    if (token === undefined)
      return { identity: '', token: async () => undefined, refused: () => {} };
    const { allocation, task } = this.#context;
    return {
      identity: `${allocation().ID}/${task().Name}`,
      token: (signal) => token.current(signal),
      refused: () => token.refused(),
    };
  }

  /** Closes watches that no template has read in its last attempt. */
  #dropUnread(): void {
    const watching = this.#templates.filter(({ isDone }) => !isDone);
    for (const [key, watch] of this.#watches) {
      if (watching.some(({ reads }) => reads.has(key))) continue;
      watch.close();
      this.#watches.delete(key);
    }
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
    const rendering = await template.render(this.#environment(), this.#context.world);
    this.#dropUnread();
    if (rendering.kind === 'waiting') return this.#tellGone(rendering.missing);
    if (this.#isOver || !template.accept(rendering.text)) return;
    await this.#write(template);
    this.#changed.add(template);
    this.#scheduleReaction();
  }

  /**
   * Reports values that no longer exist. A value that is read for the first time is only unknown
   * yet.
   */
  #tellGone(missing: readonly Dependency[]): void {
    const gone = missing.filter(
      (one) => this.#watches.get(dependencyKey(one))?.state.kind !== 'pending',
    );
    if (gone.length > 0) this.#note(missingText(gone));
  }

  async #write({ template, destination, text }: TaskTemplate): Promise<void> {
    if (text === undefined || this.#isOver) return;
    const { directory, path } = destination;
    await writeBelow(directory, path, Buffer.from(text), this.#context.owner(), {
      modeBits: Number.parseInt(template.Perms, 8),
      uid: given(template.Uid),
      gid: given(template.Gid),
      defences: this.#options.defences,
    });
  }

  async #isWritten({ destination, text }: TaskTemplate): Promise<boolean> {
    if (text === undefined) return true;
    const { directory, path } = destination;
    const most = 4 * limits.template.outputLengthMax;
    const found = await readBelow(directory, path, most).catch(() => undefined);
    return found !== undefined && Buffer.from(found).toString('utf8') === text;
  }

  #scheduleReaction(): void {
    if (!this.#isRunning || this.#reactionTimer !== undefined || this.#isOver) return;
    const { timers, random } = this.#context.world;
    const splays = [...this.#changed].map(({ template }) => durationMs(template.Splay));
    const delayMs = random.fraction() * Math.max(0, ...splays);
    this.#reactionTimer = timers.after(delayMs, () => this.#inBackground(this.#reactAfterWork()));
  }

  /** T3: pending renderings are part of the reaction. */
  async #reactAfterWork(): Promise<void> {
    for (let work: Promise<void> | undefined; work !== this.#work; ) {
      work = this.#work;
      await work;
    }
    this.#reactionTimer = undefined;
    await this.#react();
  }

  async #react(): Promise<void> {
    const { restart, signal, runId, over } = this.#context;
    if (over.aborted || runId() === undefined || !this.#isRunning) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    const names = changed.map(({ name }) => name).join(', ');
    const reaction = reactionTo(changed.map(({ template }) => template));
    if (reaction.restarts)
      return restart(`Template with change_mode restart re-rendered: ${names}`);
    for (const one of reaction.signals) await signal(one, `Template re-rendered: ${names}`);
    await this.#runScripts(reaction.scripts);
  }

  async #runScripts(scripts: ReturnType<typeof reactionTo>['scripts']): Promise<void> {
    const { driver, runId, world, fail } = this.#context;
    for (const script of scripts) {
      const id = runId();
      if (id === undefined || this.#isOver) return;
      const reason = await runChangeScript(script, { driver, runId: id, timers: world.timers });
      if (this.#isOver) return;
      if (reason === undefined) {
        this.#note(`the change script ${script.Command} succeeded`);
        continue;
      }
      const event = events.hookFailed(this.name, `the change script ${script.Command}: ${reason}`);
      if (script.FailOnError) return fail(event);
      this.#context.note(event);
    }
  }

  /** Runs renderings and writes one after the other. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  /** T4: a failure becomes an event of the task, and ends nothing. */
  #inBackground(work: Promise<void>): void {
    work.catch((error: Error) => {
      if (!this.#isOver) this.#context.note(failedEvent(error));
    });
  }

  #note(message: string): void {
    if (!this.#isOver) this.#context.note(events.hookMessage('Template', message));
  }
}

const failedEvent = (error: Error): events.EventAt =>
  events.hookFailed(
    'template',
    error.message,
    error instanceof TemplateFailure ? error.explained : undefined,
  );

/** -1 and null mean unchanged. */
const given = (id: number | null): number | undefined => (id === null || id < 0 ? undefined : id);

function missingText(missing: readonly Dependency[]): string {
  const { missingToldMax } = limits.template;
  const told = missing.slice(0, missingToldMax).map(describeDependency).join(', ');
  const more =
    missing.length > missingToldMax ? `, and ${missing.length - missingToldMax} more` : '';
  return `Missing: ${told}${more}`;
}
