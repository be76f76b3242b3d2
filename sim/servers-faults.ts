/** Faults of the servers of a cluster, and of the log that they share. */
import type { Random } from '../src/base/ports.ts';
import type { Fault } from './faults.ts';
import { usualPace } from './processor.ts';
import { type RunningServer, rootToken, type SimulatedServer, type Storage } from './server.ts';
import type { SimulatedServers } from './servers.ts';

type Member = SimulatedServer<Storage>;

export function faultsOfServers(servers: SimulatedServers, random: Random): readonly Fault[] {
  const any = (): Member => servers.all[random.below(servers.all.length)]!;
  return [
    ...faultsOfLeadership(servers, any),
    ...servers.log.faults(random),
    ...faultsOfMachines(servers, random, any),
  ];
}

/** The work of operators on the servers, beside the faults. */
export const workOfOperators = (servers: SimulatedServers, random: Random): readonly Fault[] => [
  ...(servers.upgrades?.faults(random) ?? []),
  ...(servers.stranger ? [servers.stranger.fault(() => servers.runningIds)] : []),
  ...servers.log.faultsOfOperators(),
];

function crash(server: Member | undefined): 'over at once' | undefined {
  if (server === undefined) return undefined;
  server.crash('lost');
  server.startSoon();
  return 'over at once';
}

function freeze(server: Member | undefined): (() => void) | undefined {
  const process = server?.process;
  process?.freeze();
  return process && (() => process.thaw());
}

/** An operator has the leader step down. */
function handOver(leader: RunningServer | undefined): 'over at once' | undefined {
  if (leader === undefined) return undefined;
  const { process } = leader;
  const request = {
    method: 'PUT',
    path: '/v1/operator/leader/step-down',
    query: '',
    headers: { 'x-registry-token': rootToken },
    body: undefined,
  };
  process.post(() => void leader.handle(request));
  return 'over at once';
}

const faultsOfLeadership = (servers: SimulatedServers, any: () => Member): readonly Fault[] => [
  { name: 'the leader crashes', weight: 3, begin: () => crash(servers.leader) },
  { name: 'a server crashes', weight: 2, begin: () => crash(any()) },
  {
    name: 'the leader freezes',
    weight: 3,
    lastsMaxMs: 60_000,
    begin: () => freeze(servers.leader),
  },
  { name: 'a server freezes', weight: 1, lastsMaxMs: 60_000, begin: () => freeze(any()) },
  {
    name: 'leadership moves',
    weight: 3,
    begin: () => {
      servers.log.depose();
      return 'over at once';
    },
  },
  { name: 'the leader hands over', weight: 2, begin: () => handOver(servers.running) },
  {
    name: 'all servers crash',
    weight: 1,
    begin: () => {
      for (const server of servers.all) crash(server);
      return 'over at once';
    },
  },
];

const faultsOfMachines = (
  servers: SimulatedServers,
  random: Random,
  any: () => Member,
): readonly Fault[] => [
  {
    name: 'a server is cut off from the others',
    weight: 2,
    lastsMaxMs: 60_000,
    begin: () => {
      const number = random.below(servers.all.length);
      servers.cutOff.add(number);
      return () => servers.cutOff.delete(number);
    },
  },
  {
    name: 'a server is short of processor',
    weight: 2,
    lastsMaxMs: 120_000,
    begin: () => {
      const { processor } = any();
      processor.pace = { workMs: 1, turnMaxMs: 50 + random.below(1000) };
      return () => {
        processor.pace = usualPace;
      };
    },
  },
  {
    name: 'the clock of the servers jumps',
    weight: 1,
    begin: () => {
      servers.usualClock.jump(random.below(240_000) - 120_000);
      return 'over at once';
    },
  },
  {
    name: 'the clock of a server differs',
    weight: 2,
    lastsMaxMs: 300_000,
    begin: () => {
      const { clock } = any();
      clock.jump(random.below(20_000) - 10_000);
      return () => clock.mend();
    },
  },
  {
    name: 'the clock of a server runs fast or slow',
    weight: 1,
    lastsMaxMs: 120_000,
    begin: () => {
      const { clock } = any();
      clock.run(0.8 + random.fraction() * 0.4);
      return () => clock.mend();
    },
  },
];
