import {
  hash,
  randomBytes,
  randomFillSync,
  randomInt,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';
import { collectorLimits, turnLimits } from './limits.ts';
import { Marking } from './marking.ts';
import type { Clock, Ids, Processor, Random, Secrets, Timers, World } from './ports.ts';
import { turns } from './turns.ts';
import { uuidSource } from './uuid.ts';

/** Not in limits: `setTimeout` takes a signed 32-bit integer. Longer delays are divided. */
const longestTimeoutMs = 2 ** 31 - 1;

const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const processor: Processor = {
  usedMs: () => {
    // Node 20 and 22 know that of the process alone.
    const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
    return (user + system) / 1000;
  },
};

let marking: Marking | undefined;

const timers: Timers = {
  after(delayMs, run) {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(Math.max(leftMs, 0), longestTimeoutMs);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs);
      handle.unref();
    };
    arm(delayMs);
    return { clear: () => clearTimeout(handle) };
  },
  soon(run) {
    let passed = 0;
    const go = (): void => {
      if (turns.areHeld && passed++ < turnLimits.passedMax) handle = setImmediate(go);
      else run();
    };
    let handle = setImmediate(go);
    return { clear: () => clearImmediate(handle) };
  },
  unhurried(run) {
    // Only programs with such work watch the collector.
    marking ??= new Marking();
    const go = () => {
      if (!marking?.isUnderWay) run();
      else timer = timers.after(collectorLimits.markingPollMs, go);
    };
    let timer = timers.soon(go);
    return { clear: () => timer.clear() };
  },
};

const random: Random = {
  // Nothing secret hangs on it, and each heartbeat of a node asks.
  fraction: () => Math.random(),
  below: (bound) => randomInt(bound),
};

const ids: Ids = { uuid: uuidSource(randomFillSync) };

/** Exported for the simulated world, which hashes and compares its secrets in the same way. */
export const hashing: Pick<Secrets, 'hash' | 'equal'> = {
  hash: (secret) => hash('sha256', secret),
  equal(left, right) {
    const digest = (text: string) => hash('sha256', text, 'buffer');
    return timingSafeEqual(digest(left), digest(right));
  },
};

const secrets: Secrets = {
  uuid: () => randomUUID({ disableEntropyCache: true }),
  bytes: (count) => randomBytes(count),
  ...hashing,
};

/** The machine's own clock, timers and random. Only composition roots may use it. */
export const realWorld: World = { clock, processor, timers, random, ids, secrets };
