import { durationMs } from '../../base/duration.ts';
import type { Timer } from '../../base/ports.ts';
import type { Identity } from '../../model/task/identity.ts';
import type { Task } from '../../model/task/task.ts';
import { defaultIdentityName } from '../../model/workload/claims.ts';
import type { IssuedIdentity } from '../../model/workload/identity-request.ts';
import type { Defences } from '../defences.ts';
import { interpolate } from '../environment/interpolate.ts';
import { writeBelow } from '../files.ts';
import * as events from '../task-runner/events.ts';
import { IdentityRefusal, type IdentitySource } from '../workload/identity-source.ts';
import { HookFailure, type TaskHook, type TaskHookContext, type TaskHookFactory } from './hook.ts';

/**
 * Gives a task the tokens of its identities.
 * Source: docs/behaviour/job-specification.md#identities.
 *
 * Invariants
 *  I1. A run begins with valid tokens in its files and its environment.
 *  I2. A token that expires is renewed at about half its life, until the task is dead, also between
 *      its runs. If a renewal fails the token stays, and the renewal is tried again.
 *  I3. No token is in an event, an error or a notice.
 */
export const identityHook =
  (source: IdentitySource, defences?: Defences): TaskHookFactory =>
  (context) => {
    const wanted = handedOver(context.task());
    return wanted.length === 0
      ? undefined
      : new IdentityHook(source, context, { wanted, defences });
  };

/** The identities that the task itself gets. The node uses the others in the task's name. */
function handedOver({ Identity: own, Identities }: Task): readonly Identity[] {
  const all = [
    ...(own === null ? [] : [{ ...own, Name: defaultIdentityName }]),
    ...(Identities ?? []),
  ];
  return all.filter(({ Env, File }) => Env || File);
}

interface Held {
  readonly issued: IssuedIdentity;
  /** By the monotonic clock. */
  readonly renewAtMs: number;
}

class IdentityHook implements TaskHook {
  readonly name = 'identity';
  readonly #source: IdentitySource;
  readonly #context: TaskHookContext;
  readonly #wanted: readonly Identity[];
  readonly #defences: Defences | undefined;
  readonly #held = new Map<string, Held>();
  readonly #timers = new Map<string, Timer>();
  readonly #closed = new AbortController();

  constructor(
    source: IdentitySource,
    context: TaskHookContext,
    { wanted, defences }: { wanted: readonly Identity[]; defences: Defences | undefined },
  ) {
    this.#source = source;
    this.#defences = defences;
    this.#context = context;
    this.#wanted = wanted;
  }

  async beforeStart(): Promise<Readonly<Record<string, string>>> {
    await Promise.all(this.#wanted.map((identity) => this.#provide(identity)));
    return Object.fromEntries(
      this.#wanted
        .filter(({ Env }) => Env)
        .map(({ Name }) => [variableOf(Name), this.#held.get(Name)!.issued.Token]),
    );
  }

  /**
   * An agent that takes up a task does not know when its tokens expire, and renews them at once.
   * This first renewal restarts no task; later ones do if the task asks for restarts.
   */
  started({ isRestored }: { readonly isRestored: boolean }): void {
    if (!isRestored) return;
    for (const identity of this.#wanted) {
      const isWithRestart = identity.ChangeMode === 'restart';
      if (isRenewable(identity)) void this.#renew(identity, { isQuiet: isWithRestart });
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    for (const timer of this.#timers.values()) timer.clear();
    this.#timers.clear();
  }

  /** I1. A fresh token serves the next run too. */
  async #provide(identity: Identity): Promise<void> {
    const { clock } = this.#context.world;
    const held = this.#held.get(identity.Name);
    const isFresh = held !== undefined && clock.monotonicMs() < held.renewAtMs;
    try {
      const issued = isFresh ? held.issued : await this.#fetchToken(identity);
      await this.#write(identity, issued);
    } catch (error) {
      if (!(error instanceof IdentityRefusal)) throw error;
      const sentence = `the identity "${identity.Name}" is refused: ${error.message}`;
      throw new HookFailure(events.hookFailed(this.name, sentence), sentence, false);
    }
  }

  async #fetchToken({ Name }: Identity): Promise<IssuedIdentity> {
    const { world, allocation, task } = this.#context;
    const request = { AllocID: allocation().ID, Task: task().Name, Name };
    const issued = await this.#source.issue(request, this.#closed.signal);
    const lifeMs = durationMs(issued.TTL);
    // Jitter, so that tasks that began together do not renew together.
    const inMs = lifeMs * (0.45 + 0.1 * world.random.fraction());
    const renewAtMs = lifeMs === 0 ? Number.POSITIVE_INFINITY : world.clock.monotonicMs() + inMs;
    this.#held.set(Name, { issued, renewAtMs });
    const identity = this.#wanted.find((one) => one.Name === Name);
    if (lifeMs > 0 && identity && isRenewable(identity)) this.#renewAfter(Name, inMs);
    return issued;
  }

  #renewAfter(name: string, delayMs: number): void {
    this.#timers.get(name)?.clear();
    if (this.#closed.signal.aborted) return;
    const timer = this.#context.world.timers.after(delayMs, () => {
      const identity = this.#wanted.find(({ Name }) => Name === name);
      if (identity !== undefined) void this.#renew(identity, { isQuiet: false });
    });
    this.#timers.set(name, timer);
  }

  async #renew(identity: Identity, { isQuiet }: { readonly isQuiet: boolean }): Promise<void> {
    try {
      const issued = await this.#fetchToken(identity);
      await this.#write(identity, issued);
      if (!isQuiet && !this.#closed.signal.aborted) await this.#reactToRenewal(identity);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      const sentence = `the identity "${identity.Name}" could not be renewed: ${(error as Error).message}`;
      this.#context.note(events.hookFailed(this.name, sentence));
    }
  }

  async #reactToRenewal({ Name, ChangeMode, ChangeSignal }: Identity): Promise<void> {
    const { runId, restart, signal } = this.#context;
    if (runId() === undefined) return;
    const reason = `the identity "${Name}" was renewed`;
    if (ChangeMode === 'restart') await restart(reason);
    else if (ChangeMode === 'signal') await signal(ChangeSignal, reason);
  }

  async #write({ Name, File, Filepath }: Identity, { Token }: IssuedIdentity): Promise<void> {
    if (!File) return;
    const { directories, owner, environment } = this.#context;
    const { lookup } = environment();
    const path = Filepath === '' ? `secrets/${fileOf(Name)}` : interpolate(Filepath, lookup);
    await writeBelow(directories.root, path, Buffer.from(Token), {
      owner: owner(),
      defences: this.#defences,
    });
  }
}

/** Whether a renewed token can reach the running task. */
const isRenewable = ({ File, ChangeMode }: Identity): boolean =>
  File || ChangeMode === 'restart' || ChangeMode === 'signal';

const variableOf = (name: string): string =>
  name === defaultIdentityName ? 'ROSTER_TOKEN' : `ROSTER_TOKEN_${name}`;

const fileOf = (name: string): string =>
  name === defaultIdentityName ? 'roster_token' : `roster_token_${name}`;
