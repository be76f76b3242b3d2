import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { networkLimits } from '../network/limits.ts';
import type { PeerLag } from '../servers.ts';
import { readerLimits } from './limits.ts';
import { mainThread } from './main-thread.ts';
import { ReaderLink } from './reader-link.ts';

test('a reader hears from the main thread which peers lag, now and every few beats, and is asked for its own counts', async () => {
  const world = new SimulatedWorld(1);
  const { timers, clock } = world;
  const [main, reader] = socketPair();
  const onError = (error: unknown): never => {
    throw error;
  };
  let lags: readonly PeerLag[] = [{ partition: 'default', name: 'west', lagMs: 31_000 }];
  const never = () => Promise.reject(new Error('not asked here'));
  const here = { answer: never, streamTo: never, takePeer: never, lags: () => lags };
  const link = new ReaderLink({ id: 'reader', socket: main, timers, here, onError });
  const address = () => '';
  const servers = mainThread({ socket: reader, timers, clock, address, isCurrent: () => true });
  servers.join({ streams: { held: () => undefined }, metrics: async () => '{}', onError });
  await world.advance(0);
  expect(servers.lagsOfLeader()).toEqual(lags);
  lags = [];
  await world.advance(readerLimits.beatsBetweenLags * networkLimits.beatMs);
  expect(servers.lagsOfLeader()).toEqual([]);
  const told = link.metrics({ deadlineMs: 1000 });
  await world.advance(0);
  expect(await told).toBe('{}');
});
