/** The fleets and jobs of the measurements, the same for each scheduler. */
import { seededRandom } from '../src/base/ports-simulated.ts';
import type { Job } from '../src/model/job/job.ts';
import type { Node } from '../src/model/node/node.ts';
import { makeGroup, makeJob, makeNode, makeTask } from '../src/scheduler/cluster.test-helper.ts';

export const fleetSize = 5000;
const racks = 50;
/** The kinds of tasks in the jobs, with different resources. */
const shapes = 20;

/** Processor and memory of a node, in MHz and MB. */
export const nodeCapacity = { cpu: 16_000, memory: 32_768 };

/** A fleet with three sizes, fifty racks, three versions of the system and a few machines of another kind. */
export const mixedFleet = (): readonly Node[] =>
  Array.from({ length: fleetSize }, (_, at) =>
    node(at, 1 + (at % 3) / 2, {
      Meta: { rack: `rack-${at % racks}` },
      Attributes: {
        'system.version': `${1 + (at % 3)}.2.0`,
        arch: at % 10 === 0 ? 'arm64' : 'amd64',
      },
    }),
  );

/** A fleet of equal machines, for which the least number of used nodes can be computed. */
export const uniformFleet = (): readonly Node[] =>
  Array.from({ length: fleetSize }, (_, at) => node(at, 1));

const node = (at: number, size: number, fields: Parameters<typeof makeNode>[1] = {}): Node =>
  makeNode(`node-${String(at).padStart(5, '0')}`, {
    cpu: size * nodeCapacity.cpu,
    memory: size * nodeCapacity.memory,
    disk: 1_000_000,
    ...fields,
  });

export interface JobKind {
  readonly count: number;
  /** Whether it is spread evenly over the racks. */
  readonly spread: boolean;
}

/** Jobs of all shapes in turn, each with two constraints. */
export const constrainedJobs = (jobs: number, { count, spread }: JobKind): readonly Job[] =>
  Array.from({ length: jobs }, (_, at) =>
    makeJob({
      ID: `job-${at}`,
      ...(spread && { Spreads: [{ Attribute: '${meta.rack}', Weight: 50 }] }),
      Constraints: [{ LTarget: '${attr.arch}', Operand: '=', RTarget: 'amd64' }],
      TaskGroups: [
        makeGroup({
          Count: count,
          Constraints: [
            { LTarget: '${attr.system.version}', Operand: 'version', RTarget: '>= 1.5' },
          ],
          Tasks: [
            makeTask({
              Resources: { CPU: 50 + 10 * (at % shapes), MemoryMB: 100 + 30 * (at % shapes) },
            }),
          ],
        }),
      ],
    }),
  );

const mixSeed = 20_260_101;
/** Share of the fleet that a mixed load fills. */
const fill = 0.6;

export interface Mix {
  /** Whether a tenth of the jobs have hundreds of equal instances; otherwise no job has more than twenty. */
  readonly hundreds: boolean;
}

/** Random jobs whose tasks need more processor, more memory, or both alike. */
export function mixedLoad({ hundreds }: Mix): readonly Job[] {
  const random = seededRandom(mixSeed);
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!;
  const countOf = (): number => {
    if (!hundreds) return 1 + random.below(20);
    const size = random.below(10);
    if (size < 6) return 1 + random.below(3);
    return size < 9 ? 5 + random.below(45) : 100 + random.below(400);
  };
  const jobs: Job[] = [];
  const left = {
    cpu: fill * fleetSize * nodeCapacity.cpu,
    memory: fill * fleetSize * nodeCapacity.memory,
  };
  while (left.cpu > 0 && left.memory > 0) {
    const Count = countOf();
    const CPU = pick([100, 250, 500, 1000, 2000]);
    const MemoryMB = CPU * pick([1, 2, 2, 4]);
    const Type = pick(['service', 'service', 'batch']);
    left.cpu -= Count * CPU;
    left.memory -= Count * MemoryMB;
    const group = makeGroup({ Count, Tasks: [makeTask({ Resources: { CPU, MemoryMB } })] });
    jobs.push(makeJob({ ID: `mix-${jobs.length}`, Type, TaskGroups: [group] }));
  }
  return jobs;
}

/** The number of nodes that the jobs fill without any free room. */
export function leastNodes(jobs: readonly Job[]): number {
  let cpu = 0;
  let memory = 0;
  for (const { TaskGroups } of jobs) {
    for (const { Count, Tasks } of TaskGroups) {
      for (const { Resources } of Tasks) {
        cpu += Count * Resources.CPU;
        memory += Count * Resources.MemoryMB;
      }
    }
  }
  return Math.ceil(Math.max(cpu / nodeCapacity.cpu, memory / nodeCapacity.memory));
}
