import { durationMs } from '../../../base/duration.ts';
import type { Timer } from '../../../base/ports.ts';
import * as events from '../../task-runner/events.ts';
import type { TaskHookContext } from '../hook.ts';
import { runChangeScript } from './change-script.ts';
import { type Reaction, reactionTo } from './reaction.ts';
import type { TaskTemplate } from './task-template.ts';

export interface ChangeReactionsOptions {
  readonly context: TaskHookContext;
  /** Nothing may be done to the task any more. */
  readonly isOver: () => boolean;
  readonly rendered: () => Promise<void>;
  /** Runs work whose failure becomes an event of the task. */
  readonly inBackground: (work: Promise<void>) => void;
}

/** Restarts, signals and scripts of a running task after changes of its templates. */
export class ChangeReactions {
  readonly #options: ChangeReactionsOptions;
  /** Templates that changed since the run began, before a reaction. */
  readonly #changed = new Set<TaskTemplate>();
  #timer: Timer | undefined;
  #isRunning = false;

  constructor(options: ChangeReactionsOptions) {
    this.#options = options;
  }

  note(template: TaskTemplate): void {
    this.#changed.add(template);
  }

  /** The next run begins with all changes. */
  clear(): void {
    this.#changed.clear();
  }

  /** The run may react from now on. */
  begin(): void {
    this.#isRunning = true;
    this.schedule();
  }

  end(): void {
    this.#isRunning = false;
    this.#timer?.clear();
    this.#timer = undefined;
  }

  /** Reacts to the noted changes after the splay. */
  schedule(): void {
    const { context, isOver, inBackground } = this.#options;
    const isIdle = this.#changed.size === 0 || this.#timer !== undefined;
    if (isIdle || !this.#isRunning || isOver()) return;
    const { timers, random } = context.world;
    const splays = [...this.#changed].map(({ template }) => durationMs(template.Splay));
    const delayMs = random.fraction() * Math.max(0, ...splays);
    this.#timer = timers.after(delayMs, () => inBackground(this.#reactToChanges()));
  }

  async runScripts(scripts: Reaction['scripts']): Promise<void> {
    const { context, isOver } = this.#options;
    const { driver, runId, world } = context;
    for (const script of scripts) {
      const id = runId();
      if (id === undefined || isOver()) return;
      const reason = await runChangeScript(script, { driver, runId: id, timers: world.timers });
      if (isOver()) return;
      const name = `the change script ${script.Command}`;
      if (reason === undefined) {
        context.note(events.hookMessage('Template', `${name} succeeded`));
        continue;
      }
      const event = events.hookFailed('template', `${name}: ${reason}`);
      if (script.FailOnError) return context.fail(event);
      context.note(event);
    }
  }

  /** Renderings under way are part of the same reaction. */
  async #reactToChanges(): Promise<void> {
    const { context, rendered } = this.#options;
    await rendered();
    this.#timer = undefined;
    const { restart, signal, runId, over } = context;
    if (over.aborted || runId() === undefined || !this.#isRunning) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    const names = changed.map(({ name }) => name).join(', ');
    const reaction = reactionTo(changed.map(({ template }) => template));
    if (reaction.restarts) {
      return restart(`Template with change_mode restart re-rendered: ${names}`);
    }
    for (const one of reaction.signals) await signal(one, `Template re-rendered: ${names}`);
    await this.runScripts(reaction.scripts);
  }
}
