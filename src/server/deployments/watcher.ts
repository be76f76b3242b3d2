import type { Timer } from '../../base/ports.ts';
import { visitSlice } from '../../base/slices.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import { nextDeadlineMs } from '../../model/deployment/progress.ts';
import { limits } from '../../model/limits.ts';
import { allocations, deployments } from '../../state/tables.ts';
import type { Change } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { writeEventually } from '../write-eventually.ts';
import { advanceDeployment, type Progress } from './advance.ts';
import { findDeployment } from './find.ts';

interface Deadline {
  readonly dueMs: number;
  readonly timer: Timer;
}

/**
 * Drives deployments: healthy allocations call for the next batch, unhealthy allocations for a
 * replacement or an end, and a deployment without progress fails at its deadline.
 *
 * Invariants
 *  D1. Everything it keeps is derived from the state: a new leader looks at every deployment once
 *      and then knows what the leader before it knew.
 *  D2. It only decides when to look. The transaction decides what to do, on the newest state.
 *  D3. Healthy allocations are gathered for `limits.deployment.batchMs`; an unhealthy allocation is
 *      looked at at once.
 *  D4. Looks hold the main thread for `limits.deployment.sliceMs`, then others go first.
 */
export class DeploymentWatcher {
  readonly #context: ServerContext;
  /** Deployments with healthy allocations, until the time of D3 is over. */
  readonly #gathering = new Map<string, Timer>();
  readonly #deadlines = new Map<string, Deadline>();
  /** Deployments to be looked at now, with the progress that the scheduler has not seen. */
  readonly #ready = new Map<string, Progress>();
  readonly #stopping = new AbortController();
  #next: Timer | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Looks at every open deployment: nobody knows which progress the scheduler has seen. */
  start(): void {
    const { state } = this.#context;
    this.#unsubscribe = state.onCommit((changes) => this.#followCommit(changes));
    for (const deployment of state.read().table(deployments).scan()) {
      if (isTerminalDeployment(deployment)) continue;
      this.#arm(deployment);
      this.#lookAt(deployment.ID, 'unknown');
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#unsubscribe?.();
    this.#next?.clear();
    for (const timer of this.#gathering.values()) timer.clear();
    for (const { timer } of this.#deadlines.values()) timer.clear();
    this.#gathering.clear();
    this.#deadlines.clear();
    this.#ready.clear();
  }

  #followCommit(changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      if (table === allocations.name) {
        this.#followAllocation(before as Allocation | undefined, after as Allocation | undefined);
      } else if (table === deployments.name) {
        this.#followDeployment(before as Deployment | undefined, after as Deployment | undefined);
      }
    }
  }

  #followAllocation(before: Allocation | undefined, after: Allocation | undefined): void {
    if (after === undefined || after.DeploymentID === '') return;
    const was = before?.DeploymentID === after.DeploymentID ? before : undefined;
    const health = after.DeploymentStatus?.Healthy ?? null;
    const failed = after.ClientStatus === 'failed' && was?.ClientStatus !== 'failed';
    if (failed) this.#lookAt(after.DeploymentID, 'none');
    if (health === null || health === (was?.DeploymentStatus?.Healthy ?? null)) return;
    if (health) this.#gatherHealth(after.DeploymentID);
    else this.#lookAt(after.DeploymentID, 'none');
  }

  #followDeployment(before: Deployment | undefined, after: Deployment | undefined): void {
    if (after === undefined || isTerminalDeployment(after)) {
      this.#forgetDeployment((after ?? before)!.ID);
      return;
    }
    this.#arm(after);
    // A paused deployment is not decided about.
    if (before?.Status === 'paused' && after.Status === 'running') this.#lookAt(after.ID, 'none');
  }

  #forgetDeployment(id: string): void {
    this.#gathering.get(id)?.clear();
    this.#gathering.delete(id);
    this.#ready.delete(id);
    this.#disarm(id);
  }

  /** D3. */
  #gatherHealth(id: string): void {
    if (this.#gathering.has(id)) return;
    const timer = this.#context.world.timers.after(limits.deployment.batchMs, () => {
      this.#gathering.delete(id);
      this.#lookAt(id, 'made');
    });
    this.#gathering.set(id, timer);
  }

  #arm(deployment: Deployment): void {
    const dueMs = nextDeadlineMs(deployment);
    const known = this.#deadlines.get(deployment.ID);
    if (known?.dueMs === dueMs) return;
    this.#disarm(deployment.ID);
    if (dueMs !== undefined) this.#armAt(deployment.ID, dueMs);
  }

  #armAt(id: string, dueMs: number): void {
    const { clock, timers } = this.#context.world;
    const waitMs = Math.min(Math.max(dueMs - clock.nowMs(), 0), limits.deployment.recheckMs);
    const timer = timers.after(waitMs, () => {
      if (clock.nowMs() < dueMs) return this.#armAt(id, dueMs);
      this.#deadlines.delete(id);
      this.#lookAt(id, 'none');
    });
    this.#deadlines.set(id, { dueMs, timer });
  }

  #disarm(id: string): void {
    this.#deadlines.get(id)?.timer.clear();
    this.#deadlines.delete(id);
  }

  #lookAt(id: string, progress: Progress): void {
    const known = this.#ready.get(id) ?? 'none';
    this.#ready.set(id, known === 'none' ? progress : known);
    this.#scheduleSlice();
  }

  #scheduleSlice(): void {
    if (this.#next !== undefined || this.#stopping.signal.aborted) return;
    this.#next = this.#context.world.timers.soon(() => {
      this.#next = undefined;
      this.#runSlice();
    });
  }

  /** D4. */
  #runSlice(): void {
    const advance = ([id, progress]: readonly [string, Progress]) => {
      this.#ready.delete(id);
      void this.#advance(id, progress);
    };
    visitSlice(this.#ready, advance, this.#context.world.clock, limits.deployment);
    if (this.#ready.size > 0) this.#scheduleSlice();
  }

  async #advance(id: string, progress: Progress): Promise<void> {
    const { state, world, log } = this.#context;
    const { signal } = this.#stopping;
    try {
      const advanced = await writeEventually(
        { state, timers: world.timers },
        (transaction) => advanceDeployment(transaction, world, id, progress),
        signal,
      );
      if (advanced === 'failed') log.warn({ deployment: id }, 'a deployment failed');
      if (advanced === 'unchanged') this.#armAgain(id);
    } catch (error) {
      if (signal.aborted || state.closed !== undefined) return;
      log.error({ deployment: id, error }, 'a deployment could not be taken further');
    }
  }

  /** Sets the timer again if the deadline had moved when it came. */
  #armAgain(id: string): void {
    const deployment = findDeployment(this.#context.state.read(), id);
    if (deployment !== undefined && !isTerminalDeployment(deployment)) this.#arm(deployment);
  }
}
