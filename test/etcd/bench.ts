import { expect } from 'vitest';
import type { Timers } from '../../src/base/ports.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { EtcdEngine } from '../../src/state/engine/etcd/etcd.ts';
import type { EtcdAddress } from '../../src/state/engine/etcd/grpc-client.ts';
import type { BenchEngine, LogBench } from '../../src/state/engine/shared-engine.test-helper.ts';
import type { EtcdCluster } from '../support/etcd.ts';

const { timers, ids } = realWorld;

export interface RealBenchOptions extends Pick<EtcdAddress, 'login'> {
  readonly prefix?: string;
}

/** The time until a crashed leader is missed. */
const leaseTtlMs = 2000;

/** The log of a cluster of servers of its own, in etcd. */
export class RealBench implements LogBench {
  readonly reports: unknown[] = [];
  readonly #cluster: EtcdCluster;
  readonly #given: RealBenchOptions;

  constructor(cluster: EtcdCluster, given: RealBenchOptions = {}) {
    this.#cluster = cluster;
    this.#given = { prefix: `/${ids.uuid()}/`, ...given };
  }

  open(): BenchEngine {
    let isOver = false;
    const unlessOver = (run: () => void) => () => {
      if (!isOver) run();
    };
    const own: Timers = {
      after: (delayMs, run) => timers.after(delayMs, unlessOver(run)),
      soon: (run) => timers.soon(unlessOver(run)),
      unhurried: (run) => timers.unhurried(unlessOver(run)),
    };
    const { login, prefix = '' } = this.#given;
    const client = this.#cluster.client({ login });
    const engine = new EtcdEngine({
      ...realWorld,
      client,
      timers: own,
      prefix,
      where: 'etcd',
      limits: { leaseTtlMs, beatMs: 500, statusMs: 1000 },
      report: (fault) => this.reports.push(fault),
    });
    const crash = () => {
      isOver = true;
      void client.close();
    };
    return { engine, timers: own, crash, hearAfter: () => {} };
  }

  async until(condition: () => boolean): Promise<void> {
    await expect.poll(condition, { interval: 20 }).toBe(true);
  }

  during<T>(promise: Promise<T>): Promise<T> {
    return promise;
  }
}
