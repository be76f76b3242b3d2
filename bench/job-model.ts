import { decode } from '../src/model/codec.ts';
import { canonicalizeJob } from '../src/model/job/canonicalize.ts';
import { JobSchema } from '../src/model/job/job.ts';
import { validateJob } from '../src/model/job/validate.ts';
import { alternate, type Benchmark } from './benchmark.ts';
import { limits } from './limits.ts';
import { warmMs } from './thread-time.ts';

const { groups } = limits.jobModel;

/** Reads, completes and validates a job, in this process and without a server. */
export const jobModel: Benchmark = {
  name: 'job-model',
  title: `A job of ${groups} groups is read from JSON, filled in and checked`,
  baseline: '`JSON.parse` and `JSON.stringify` of the same job',
  takesGiven: false,
  async run(setting) {
    const text = JSON.stringify(largeJob());
    const once = async () => warmMs(() => accept(JSON.parse(text)));
    const results = await alternate(setting, once, async () =>
      warmMs(() => JSON.stringify(JSON.parse(text))),
    );
    const steps = stepsOf(text, setting.runs);
    return {
      figures: [
        { name: 'all of it', unit: 'ms', ...results },
        {
          name: 'filled in and checked',
          unit: 'ms',
          ours: steps,
          target: { of: 'median', is: 'at most', value: 5 },
        },
      ],
      notes: [
        `${text.length} bytes of JSON: two tasks and three services a group, with constraints, ` +
          'checks, templates and ports. Warm medians of the thread’s processor time.',
      ],
    };
  },
};

function accept(input: unknown): void {
  const { value } = decode(JobSchema, input, { checkValues: false });
  judge(value);
}

function judge(input: Parameters<typeof canonicalizeJob>[0]): void {
  const faults = validateJob(canonicalizeJob(input));
  if (faults.length > 0) throw new Error(`the job is at fault: ${faults[0]!.message}`);
}

function stepsOf(text: string, runs: number): number[] {
  const { value } = decode(JobSchema, JSON.parse(text), { checkValues: false });
  return Array.from({ length: runs }, () => warmMs(() => judge(value)));
}

function largeJob(): unknown {
  const task = (number: number) => ({
    Name: `server-${number}`,
    Driver: 'raw_exec',
    Config: { command: 'node', args: ['server.mjs'] },
    Env: { GREETING: 'hello', PORT: '${SCHED_PORT_http}' },
    Resources: { CPU: 100, MemoryMB: 64 },
    Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: 'lin.*', Operand: 'regexp' }],
    Templates: [{ EmbeddedTmpl: 'x'.repeat(200), DestPath: 'local/settings' }],
    Services: [
      {
        Name: `of-task-${number}`,
        PortLabel: 'http',
        Checks: [{ Type: 'http', Path: '/', Interval: '10s', Timeout: '1s' }],
      },
    ],
  });
  const group = (number: number) => ({
    Name: `group-${number}`,
    Count: 2,
    Networks: [{ DynamicPorts: [{ Label: 'http' }, { Label: 'admin' }] }],
    Services: [{ Name: `service-${number}`, PortLabel: 'http' }],
    Constraints: [{ LTarget: '${attr.os.version}', RTarget: '>= 1.2', Operand: 'version' }],
    Spreads: [{ Attribute: '${node.datacenter}' }],
    Tasks: [task(0), task(1)],
  });
  return {
    ID: 'large',
    Meta: { owner: 'bench' },
    Update: { MaxParallel: 2 },
    TaskGroups: Array.from({ length: groups }, (_, number) => group(number)),
  };
}
