/** Prints the events of a life, to narrow down a violation. */
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Change, Stamps } from '../src/state/types.ts';

export interface TraceOptions {
  readonly trace?: (line: string) => void;
  /** Adds each change of this job to the trace. */
  readonly job?: string | undefined;
}

type Row = Readonly<Record<string, unknown>>;

export class Trace {
  readonly #world: SimulatedWorld;
  readonly #options: TraceOptions;
  readonly #where: string;

  constructor(world: SimulatedWorld, options: TraceOptions, where = '') {
    this.#world = world;
    this.#options = options;
    this.#where = where;
  }

  /** The trace of a cluster, with its name in each line. */
  within(name: string): Trace {
    return new Trace(this.#world, this.#options, `${name}: `);
  }

  tell(line: string): void {
    const { trace } = this.#options;
    if (trace === undefined) return;
    const seconds = (this.#world.clock.monotonicMs() / 1000).toFixed(3);
    trace(`${seconds.padStart(12)}  ${this.#where}${line}`);
  }

  /** Prints the changes of the traced job and of every node. */
  follow(changes: readonly Change[], index: number): void {
    const { job, trace } = this.#options;
    if (job === undefined || trace === undefined) return;
    for (const { table, before, after } of changes) {
      const row = (after ?? before) as (Stamps & Row) | undefined;
      if (row === undefined || table === 'job-versions') continue;
      if (row.JobID !== job && row.ID !== job && table !== 'nodes') continue;
      const told =
        after === undefined
          ? [
              ['ID', short(row.ID)],
              ['is', 'gone'],
            ]
          : toldOf(row);
      const isChange = before !== undefined && after !== undefined;
      if (table === 'nodes' && isChange && isSameNode(before as never, row)) continue;
      const fields = told.map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      this.tell(`${index} ${table} ${fields.join(' ')}`);
    }
  }
}

const telling = [
  'ID',
  'Version',
  'Stable',
  'Stop',
  'Name',
  'NodeID',
  'NodeName',
  'JobVersion',
  'Status',
  'TriggeredBy',
  'StatusDescription',
  'DesiredStatus',
  'DesiredDescription',
  'ClientStatus',
  'DeploymentID',
  'DeploymentStatus',
  'PreviousAllocation',
  'NextAllocation',
  'FollowupEvalID',
  'DesiredTransition',
  'QueuedAllocations',
  'TaskGroups',
  'SchedulingEligibility',
  'Drain',
  'WaitUntil',
];

const isSameNode = (before: Row, after: Row): boolean =>
  ['Status', 'SchedulingEligibility', 'Drain'].every((name) => before[name] === after[name]);

const short = (value: unknown): unknown =>
  typeof value === 'string' && /^[0-9a-f]{8}-.{27}$/.test(value) ? value.slice(0, 8) : value;

/** The traced fields of the row that have a value. */
const toldOf = (row: Row): readonly (readonly [string, unknown])[] =>
  telling.flatMap((name): [string, unknown][] => {
    const value = withoutNothing(name === 'TaskGroups' ? groupsOf(row) : row[name]);
    const isSaying = value !== undefined && value !== null && value !== '' && value !== false;
    return isSaying && value !== 0 ? [[name, short(value)]] : [];
  });

/** Leaves out unset parts of the value. */
function withoutNothing(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** The progress of a deployment's groups. */
function groupsOf({ TaskGroups }: Row): unknown {
  if (Array.isArray(TaskGroups) || TaskGroups === undefined) return undefined;
  return Object.entries(TaskGroups as Record<string, Row>).map(([name, group]) => {
    const { DesiredTotal, DesiredCanaries, PlacedAllocs, HealthyAllocs, UnhealthyAllocs } = group;
    const counts = [DesiredTotal, DesiredCanaries, PlacedAllocs, HealthyAllocs, UnhealthyAllocs];
    return `${name} ${counts.join('/')} by ${group.RequireProgressBy}`;
  });
}
