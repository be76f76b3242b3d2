import { Duplex } from 'node:stream';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { LeaseStream } from './lease-stream.ts';
import type { OpenStream } from './open-stream.ts';

/** A stream of etcd that answers nothing. */
function silentStream(): OpenStream {
  const stream = new Duplex({
    objectMode: true,
    read() {},
    write: (_chunk, _encoding, done) => done(),
  });
  const cancel = () => void stream.destroy();
  return {
    stream: Object.assign(stream, { cancel }) as unknown as ClientDuplexStream<object, unknown>,
    endpoint: 'etcd',
  };
}

function leaseStream() {
  const world = new SimulatedWorld(1);
  const opening = Promise.withResolvers<OpenStream>();
  const leases = new LeaseStream({
    open: () => opening.promise,
    failed: () => {},
    timers: world.timers,
    callMs: 5_000,
  });
  return { world, leases, opened: () => opening.resolve(silentStream()) };
}

test('a lease is unknown when the stream ends while it is opened', async () => {
  const { leases, opened } = leaseStream();
  const kept = leases.keepAlive('1');
  leases.stop();
  opened();
  await expect(kept).rejects.toMatchObject({ kind: 'unknown' });
});

test('a lease is unknown when etcd does not answer in time', async () => {
  const { world, leases, opened } = leaseStream();
  const kept = expect(leases.keepAlive('1')).rejects.toMatchObject({ kind: 'unknown' });
  opened();
  await world.advance(5_000);
  await kept;
});
