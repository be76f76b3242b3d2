/** The jobs that users submit: of every type, with most of the settings of a group. */
import type { Random } from '../src/base/ports.ts';

export const kinds = ['service', 'batch', 'system', 'sysbatch'] as const;
export type Kind = (typeof kinds)[number];

/** How its tasks end: `run` never, `once` with success, `crash` with a failure at once, `wear out` later. */
export type Behaviour = 'run' | 'once' | 'crash' | 'wear out';

export interface GroupShape {
  readonly name: string;
  count: number;
  cpuMhz: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly sticky: boolean;
  readonly canaries: number;
  readonly autoPromote: boolean;
  readonly autoRevert: boolean;
  readonly maxParallel: number;
  readonly migrateMaxParallel: number;
  /** Resources besides processor, memory and disk. */
  readonly special: 'nothing' | 'cores' | 'graphics';
  readonly port: 'none' | 'dynamic' | 'static';
  /** Names of the services of its instances. */
  readonly services: readonly string[];
  readonly spread: 'none' | 'even' | 'targets';
  readonly rule: 'none' | 'class' | 'not rack' | 'distinct hosts' | 'distinct racks';
  readonly away: 'lost' | 'waited for' | 'waited for and kept' | 'ended there';
  readonly reschedules: 'for ever' | 'a few times' | 'never';
  readonly killAfterMs: number;
  readonly runForMs: number;
}

/** The choices from which the body of a submission is made. */
export interface Shape {
  readonly name: string;
  readonly kind: Kind;
  readonly priority: number;
  readonly pool: 'default' | 'all' | 'other';
  readonly datacenters: readonly string[];
  readonly allAtOnce: boolean;
  readonly groups: readonly GroupShape[];
  /** A new value makes a new version that replaces all tasks. */
  readonly edition: number;
  /** A new value makes a new version that updates the tasks in place. */
  readonly note: number;
  readonly behaviour: Behaviour;
}

const second = 1e9;
const staticPort = 8080;
/** Few names, so that several jobs have instances of the same service. */
export const serviceNames = ['web', 'api', 'store', 'mail'] as const;

export function newShape(name: string, kind: Kind, random: Random): Shape {
  const oneIn = (chances: number): boolean => random.below(chances) === 0;
  const isRepeated = kind === 'service' || kind === 'batch';
  return {
    name,
    kind,
    priority: 20 + 10 * random.below(7),
    pool: oneIn(6) ? 'all' : oneIn(12) ? 'other' : 'default',
    datacenters: oneIn(5) ? ['dc1'] : ['*'],
    allAtOnce: isRepeated && oneIn(8),
    groups: Array.from({ length: isRepeated && oneIn(4) ? 2 : 1 }, (_, number) =>
      newGroup(number === 0 ? 'main' : 'side', kind, random),
    ),
    edition: 1,
    note: 1,
    behaviour: usual(kind),
  };
}

/** The behaviour of tasks that do not fail. */
export const usual = (kind: Kind): Behaviour =>
  kind === 'batch' || kind === 'sysbatch' ? 'once' : 'run';

function newGroup(name: string, kind: Kind, random: Random): GroupShape {
  const oneOf = <T>(choices: readonly T[]): T => choices[random.below(choices.length)]!;
  const oneIn = (chances: number): boolean => random.below(chances) === 0;
  const isRepeated = kind === 'service' || kind === 'batch';
  const isService = kind === 'service';
  return {
    name,
    count: isRepeated ? 1 + random.below(8) : 1,
    cpuMhz: isRepeated ? 100 + random.below(900) : 50,
    memoryMb: isRepeated ? 64 + random.below(1000) : 32,
    diskMb: 150 + random.below(1500),
    sticky: isRepeated && oneIn(6),
    canaries: isService && oneIn(3) ? 1 + random.below(2) : 0,
    autoPromote: oneIn(2),
    autoRevert: !oneIn(4),
    maxParallel: 1 + random.below(3),
    migrateMaxParallel: 1 + random.below(2),
    special: isRepeated ? (oneIn(10) ? 'cores' : oneIn(10) ? 'graphics' : 'nothing') : 'nothing',
    port: oneIn(3) ? 'dynamic' : isService && oneIn(8) ? 'static' : 'none',
    services: isService && oneIn(2) ? (oneIn(3) ? ['web', 'api'] : [oneOf(serviceNames)]) : [],
    spread: isService ? oneOf(['none', 'none', 'even', 'targets']) : 'none',
    rule: isRepeated
      ? oneOf(['none', 'none', 'none', 'class', 'not rack', 'distinct hosts', 'distinct racks'])
      : oneOf(['none', 'none', 'class', 'not rack']),
    away: isService
      ? oneOf(['lost', 'lost', 'waited for', 'waited for and kept', 'ended there'])
      : 'lost',
    reschedules: isRepeated ? oneOf(['for ever', 'for ever', 'a few times', 'never']) : 'never',
    killAfterMs: 100 + random.below(6000),
    runForMs: 20_000 + random.below(180_000),
  };
}

/** The job of a registration's body. */
export function bodyOf(shape: Shape) {
  const { name, kind, priority, pool, datacenters, allAtOnce, groups } = shape;
  return {
    ID: name,
    Type: kind,
    Priority: priority,
    NodePool: pool,
    Datacenters: datacenters,
    AllAtOnce: allAtOnce,
    TaskGroups: groups.map((group) => groupBody(shape, group)),
  };
}

function groupBody(shape: Shape, group: GroupShape) {
  const { kind, note, edition } = shape;
  const isRepeated = kind === 'service' || kind === 'batch';
  return {
    Name: group.name,
    ...(isRepeated && { Count: group.count, ReschedulePolicy: reschedulePolicy(kind, group) }),
    ...((kind === 'service' || kind === 'system') && { Update: updateStrategy(kind, group) }),
    ...(kind === 'service' && {
      Migrate: {
        MaxParallel: group.migrateMaxParallel,
        HealthCheck: 'task_states',
        MinHealthyTime: 5 * second,
        HealthyDeadline: 120 * second,
      },
    }),
    RestartPolicy: { Attempts: 1, Delay: 2 * second, Interval: 60 * second, Mode: 'fail' },
    ...disconnect(group),
    EphemeralDisk: { SizeMB: group.diskMb, Sticky: group.sticky },
    Constraints: constraints(group),
    ...spreads(group),
    ...networks(group),
    ...services(shape, group),
    Tasks: [
      {
        Name: 'task',
        Driver: 'mock',
        KillTimeout: (4 + note) * second,
        Env: { EDITION: String(edition) },
        Config: config(shape, group),
        Resources: resources(group),
      },
    ],
  };
}

const resources = ({ special, cpuMhz, memoryMb }: GroupShape) => ({
  ...(special === 'cores' ? { Cores: 1 } : { CPU: cpuMhz }),
  ...(special === 'graphics' && { Devices: [{ Name: 'gpu', Count: 1 }] }),
  MemoryMB: memoryMb,
});

function config({ behaviour }: Shape, { killAfterMs, runForMs }: GroupShape) {
  const kill_after = `${killAfterMs}ms`;
  switch (behaviour) {
    case 'crash':
      return { kill_after, run_for: '2s', exit_code: 1 };
    case 'wear out':
      return { kill_after, run_for: `${runForMs}ms`, exit_code: 1 };
    case 'once':
      return { kill_after, run_for: `${runForMs}ms` };
    default:
      return { kill_after };
  }
}

const updateStrategy = (kind: Kind, group: GroupShape) => ({
  MaxParallel: group.maxParallel,
  HealthCheck: 'task_states',
  AutoRevert: group.autoRevert,
  ...(kind === 'service' && {
    Canary: group.canaries,
    AutoPromote: group.canaries > 0 && group.autoPromote,
  }),
  MinHealthyTime: 5 * second,
  HealthyDeadline: 60 * second,
  ProgressDeadline: 180 * second,
});

function reschedulePolicy(kind: Kind, { reschedules }: GroupShape) {
  if (reschedules === 'never') return { Attempts: 0, Unlimited: false };
  const pace = { Delay: 15 * second, MaxDelay: 120 * second, DelayFunction: 'exponential' };
  if (reschedules === 'for ever') return { ...pace, Attempts: 0, Unlimited: true };
  const DelayFunction = kind === 'batch' ? 'constant' : 'fibonacci';
  return { ...pace, DelayFunction, Attempts: 3, Interval: 900 * second, Unlimited: false };
}

function disconnect({ away }: GroupShape) {
  switch (away) {
    case 'waited for':
      return { Disconnect: { LostAfter: 300 * second } };
    case 'waited for and kept':
      return {
        Disconnect: { LostAfter: 120 * second, Replace: false, Reconcile: 'keep_original' },
      };
    case 'ended there':
      return { Disconnect: { LostAfter: 0, StopOnClientAfter: 30 * second } };
    default:
      return {};
  }
}

const rack = '${meta.rack}';

function constraints({ rule }: GroupShape) {
  switch (rule) {
    case 'class':
      return [{ LTarget: '${node.class}', Operand: '=', RTarget: 'small' }];
    case 'not rack':
      return [{ LTarget: rack, Operand: '!=', RTarget: 'rack-1' }];
    case 'distinct hosts':
      return [{ Operand: 'distinct_hosts', RTarget: 'true' }];
    case 'distinct racks':
      return [{ LTarget: rack, Operand: 'distinct_property', RTarget: '2' }];
    default:
      return [];
  }
}

function spreads({ spread }: GroupShape) {
  if (spread === 'none') return {};
  const SpreadTarget = [
    { Value: 'rack-0', Percent: 60 },
    { Value: 'rack-1', Percent: 30 },
  ];
  const targets = spread === 'targets' ? { SpreadTarget } : {};
  return { Spreads: [{ Attribute: rack, Weight: 50, ...targets }] };
}

function networks({ port }: GroupShape) {
  if (port === 'none') return {};
  if (port === 'dynamic') return { Networks: [{ DynamicPorts: [{ Label: 'http' }] }] };
  return { Networks: [{ ReservedPorts: [{ Label: 'http', Value: staticPort }] }] };
}

function services({ note }: Shape, { services: names, port }: GroupShape) {
  if (names.length === 0) return {};
  const PortLabel = port === 'none' ? '' : 'http';
  return { Services: names.map((Name) => ({ Name, PortLabel, Tags: [`note-${note}`] })) };
}
