import { expect, test, vi } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { type StreamKnown, unknownStream } from '../../model/peering/state.ts';
import type { PeeringLink } from './link.ts';
import { type Mutable, PeeringStream } from './stream.ts';
import { Wire } from './wire.ts';

test('repeated goodbyes of a peer are written down once', async () => {
  const world = new SimulatedWorld(1);
  let hear: (text: string) => void = () => {};
  const sent: string[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const link: PeeringLink = {
    closed,
    close: resolve,
    waitingBytes: 0,
    send: (text) => sent.push(JSON.parse(text).type) > 0,
    onFrame: (take) => {
      hear = take;
    },
  };
  const onGoodbye = vi.fn(async () => {});
  const known: Mutable<StreamKnown> = { ...unknownStream };
  const stream = new PeeringStream({
    context: { world, log: { info() {}, warn() {}, error() {}, debug() {} } as never },
    wire: new Wire(link, world.timers),
    side: 'acceptor',
    peering: { id: 'x', name: 'west', partition: 'default' },
    known,
    exchange: { open: () => ({ receive() {}, close() {} }) },
    onGoodbye,
    onAddresses: () => {},
  });
  stream.start({ exchanges: true });
  for (let count = 0; count < 500; count++) hear('{"type":"goodbye"}');
  await world.advance(0);
  expect(await stream.ended).toBe('the peer has deleted the peering');
  expect(onGoodbye).toHaveBeenCalledTimes(1);
  expect(sent.filter((type) => type === 'farewell')).toEqual(['farewell']);
});
