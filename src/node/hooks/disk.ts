/**
 * Gives an allocation the data of its predecessor.
 * Source: docs/behaviour/client.md#disks-that-move.
 *
 * Invariants
 *  K1. Nothing is taken from an allocation that still runs.
 *  K2. Data arrives whole or not at all. A failure is reported, and keeps no task from starting.
 *  K3. Files of the predecessor's own user go to the successor's. No other file changes its owner.
 */
import { join } from 'node:path';
import { delay } from '../../base/ports.ts';
import { limits } from '../../model/limits.ts';
import type { Defences } from '../defences.ts';
import { diskParts } from '../disks/disk-parts.ts';
import { type HandOver, handOver } from '../disks/hand-over.ts';
import type { Predecessor } from '../disks/snapshot-handler.ts';
import { takeOver, withStaging } from '../disks/take-over.ts';
import { statusOf } from '../server-api.ts';
import * as events from '../task-runner/events.ts';
import type { AllocationHookContext, AllocationHookFactory } from './hook.ts';

export interface DiskOptions {
  readonly predecessor: (id: string) => Predecessor | undefined;
  /** The data of an allocation on another node, as a tar. */
  readonly snapshot: (id: string, signal: AbortSignal) => AsyncIterable<Uint8Array>;
  readonly defences?: Defences | undefined;
}

export const diskHook =
  (options: DiskOptions): AllocationHookFactory =>
  (context) => {
    const { Sticky, Migrate } = context.group().EphemeralDisk;
    const { PreviousAllocation: previous } = context.allocation();
    if (previous === '' || !(Sticky || Migrate)) return undefined;
    return {
      name: 'disk',
      async beforeStart(signal) {
        // An earlier agent has taken the data over already.
        if (Object.values(context.states()).some(({ StartedAt }) => StartedAt !== null)) return;
        try {
          const here = options.predecessor(previous);
          if (here !== undefined)
            await takeFromHere(context, here, { signal, defences: options.defences });
          else if (Migrate) await takeFromAfar(context, options, previous, signal);
        } catch (error) {
          if (!signal.aborted) tell(context, previous, (error as Error).message);
        }
      },
    };
  };

const tasksOf = (context: AllocationHookContext): readonly string[] =>
  context.group().Tasks.map(({ Name }) => Name);

async function takeFromHere(
  context: AllocationHookContext,
  { whenDone, directories, ownUser }: Predecessor,
  { signal, defences }: Pick<HandOver, 'signal' | 'defences'>,
): Promise<void> {
  const isOver = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([whenDone, isOver]);
  if (signal.aborted) return;
  const tasks = tasksOf(context);
  const places = diskParts(context.directories, tasks);
  const heir = context.ownUser() ?? agentUser;
  for (const [at, { path }] of diskParts(directories, tasks).entries()) {
    if (ownUser !== undefined) await handOver(path, ownUser, { heir, signal, defences });
    await takeOver(path, places[at]!.path, defences);
  }
}

/** Files have owners other than the agent only if the agent is root. */
const agentUser = { uid: 0, gid: 0 };

async function takeFromAfar(
  context: AllocationHookContext,
  { snapshot }: DiskOptions,
  previous: string,
  signal: AbortSignal,
): Promise<void> {
  const { timers } = context.world;
  const { attemptsMax, retryDelayMs } = limits.disk;
  for (let attempt = 1; ; attempt++) {
    try {
      await withStaging(join(context.directories.root, '.disk'), async (staging) => {
        const { unpackDisk } = await import('../disks/unpack-disk.ts');
        await unpackDisk(snapshot(previous, signal), staging, { signal, heir: context.ownUser() });
        for (const { path, name } of diskParts(context.directories, tasksOf(context))) {
          await takeOver(join(staging, name), path);
        }
      });
      return;
    } catch (error) {
      const status = statusOf(error);
      const isFinal = status >= 400 && status < 500;
      if (isFinal || attempt === attemptsMax || signal.aborted) throw error;
    }
    await delay(timers, retryDelayMs * attempt, signal);
  }
}

function tell(context: AllocationHookContext, previous: string, reason: string): void {
  const sentence = `the data of the allocation ${previous} could not be taken over: ${reason}`;
  context.onNotice(`allocation ${context.id}: ${sentence}`);
  for (const task of tasksOf(context)) {
    context.controls(task)?.note(events.hookFailed('disk', sentence));
  }
}
