import { expect, test } from 'vitest';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { placed } from './checkers/planted.test-helper.ts';
import { hardware } from './hardware.ts';
import { Machine } from './machine.ts';
import { type Endpoint, Network } from './network.ts';
import { Process } from './process.ts';

/** A machine that is assigned an allocation whose job was purged, and the reports that its server has answered with `status`. */
function machineOfPurged(status: () => number) {
  const world = new SimulatedWorld(1);
  const reports: { readonly ID: string; readonly ClientStatus: string }[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    register: { HeartbeatTTL: 10e9 },
    heartbeat: { HeartbeatTTL: 10e9 },
    assignments: [{ Allocation: placed('a1', { DesiredStatus: 'stop' }), Job: null }],
  };
  const server: Endpoint = {
    process: new Process(world),
    handle: ({ path, body }) => {
      const last = path.split('/').at(-1)!;
      if (last !== 'status') return answer(200, answers[last] ?? {});
      if (status() === 200) reports.push(...JSON.parse(`${Buffer.from(body!)}`).Allocations);
      return answer(status(), {});
    },
  };
  const machine = new Machine({
    world,
    random: world.random,
    network: new Network(world, world.random, () => server),
    server: () => undefined,
    hardware: hardware(0, world.ids),
    hasRestores: false,
    moved: () => {},
    abandoned: () => {},
    unexpected: () => {},
  });
  return { world, machine, reports };
}

const answer = (status: number, body: unknown) => ({
  status,
  headers: { 'x-scheduler-index': '5' },
  body: JSON.stringify(body),
});

test('an agent refuses again what its predecessor has refused, and could not report', async () => {
  let status = 500;
  const { world, machine, reports } = machineOfPurged(() => status);
  machine.startAgent();
  await world.advance(20_000);
  machine.killAgent();
  status = 200;
  machine.startAgent();
  await world.advance(20_000);
  expect(reports).toMatchObject([{ ID: placed('a1').ID, ClientStatus: 'complete' }]);
});
