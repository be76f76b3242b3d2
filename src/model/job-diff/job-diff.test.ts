import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from '../job/canonicalize.ts';
import type { Job } from '../job/job.ts';
import { webJob, webJobWith } from '../job/sample.test-helper.ts';
import { changedValues } from './changed-values.ts';
import { compareJobs } from './compare-jobs.ts';
import type { DiffType, FieldDiff, JobDiff, ObjectDiff } from './job-diff.ts';

const sample = canonicalizeJob(webJob);
const sampleWith = (changes: Readonly<Record<string, unknown>>): Job =>
  canonicalizeJob(webJobWith(changes));
const group = 'TaskGroups.0';
const task = `${group}.Tasks.0`;

/** A difference in few lines: the changes, each under its place and with the mark of its type. */
const marks: Readonly<Record<DiffType, string>> = {
  Added: '+',
  Deleted: '-',
  Edited: '~',
  None: '=',
};
const shown = ({ Type, Name, Old, New }: FieldDiff) => `${marks[Type]} ${Name} ${Old}|${New}`;
function lines(
  fields: readonly FieldDiff[] | null,
  objects: readonly ObjectDiff[] | null,
): string[] {
  return [
    ...(fields ?? []).map(shown),
    ...(objects ?? []).flatMap(({ Type, Name, Fields, Objects }) => [
      `${marks[Type]} ${Name}:`,
      ...lines(Fields, Objects).map((line) => `  ${line}`),
    ]),
  ];
}
const golden = ({ Fields, Objects, TaskGroups }: JobDiff): string[] => [
  ...lines(Fields, Objects),
  ...(TaskGroups ?? []).flatMap(({ Type, Name, Tasks, ...rest }) => [
    ...(Type === 'None' ? [] : [`${marks[Type]} group ${Name}`]),
    ...lines(rest.Fields, rest.Objects),
    ...(Tasks ?? []).flatMap((one) => [
      ...(one.Type === 'None' ? [] : [`${marks[one.Type]} task ${one.Name}`]),
      ...lines(one.Fields, one.Objects),
    ]),
  ]),
];

describe('golden differences', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ['nothing', {}, {}, []],
    ['fields of the server', {}, { Version: 7 }, []],
    ['a field', {}, { Priority: 60 }, ['~ Priority 50|60']],
    [
      'a map of the job',
      { 'Meta.a': '1', 'Meta.b': '2' },
      { 'Meta.a': '1', 'Meta.c': '' },
      ['- Meta[b] 2|', '+ Meta[c] |'],
    ],
    [
      'a list without an order, with its unchanged words',
      { Datacenters: ['a', 'b'] },
      { Datacenters: ['c', 'b'] },
      ['~ Datacenters:', '  + Datacenters |c', '  - Datacenters a|', '  = Datacenters b|b'],
    ],
    ['the same in another order', { Datacenters: ['a', 'b'] }, { Datacenters: ['b', 'a'] }, []],
    [
      'an edited constraint: a deleted and an added one',
      { Constraints: [{ LTarget: 'a', Operand: '=', RTarget: 'b' }] },
      { Constraints: [{ LTarget: 'a', Operand: '=', RTarget: 'c' }] },
      [
        '+ Constraint:',
        '  + LTarget |a',
        '  + Operand |=',
        '  + RTarget |c',
        '- Constraint:',
        '  - LTarget a|',
        '  - Operand =|',
        '  - RTarget b|',
      ],
    ],
    [
      'a block, with its unchanged fields, without the stagger',
      {},
      { [`${group}.Update`]: { MaxParallel: 3, Stagger: 5e9 } },
      [
        '~ group web',
        '~ Update:',
        '  = AutoPromote false|false',
        '  = AutoRevert false|false',
        '  = Canary 0|0',
        '  = HealthCheck checks|checks',
        '  = HealthyDeadline 300000000000|300000000000',
        '  ~ MaxParallel 1|3',
        '  = MinHealthyTime 10000000000|10000000000',
        '  = ProgressDeadline 600000000000|600000000000',
      ],
    ],
    [
      'a value that was null',
      {},
      { [`${group}.ShutdownDelay`]: 5e9 },
      ['~ group web', '~ ShutdownDelay nil|5000000000'],
    ],
    [
      'a port of a network',
      {},
      { [`${group}.Networks.0.DynamicPorts`]: [{ Label: 'http', To: 80 }, { Label: 'admin' }] },
      [
        '~ group web',
        '~ Network:',
        '  = CIDR |',
        '  = Device |',
        '  = Hostname |',
        '  = IP |',
        '  = MBits 0|0',
        '  = Mode host|host',
        '  ~ Dynamic Port:',
        '    = HostNetwork |',
        '    = IgnoreCollision false|false',
        '    = Label http|http',
        '    ~ To 0|80',
        '    = Value 0|0',
        '  + Dynamic Port:',
        '    = HostNetwork |',
        '    + IgnoreCollision |false',
        '    + Label |admin',
        '    + To |0',
        '    + Value |0',
      ],
    ],
    [
      'the configuration of a task, at any depth',
      { [`${task}.Config`]: { args: ['a', 'b'], port_map: { http: 80 }, same: true } },
      { [`${task}.Config`]: { args: ['a'], port_map: { http: '80' }, same: true, none: [] } },
      [
        '~ group web',
        '~ task server',
        '~ Config:',
        '  = args[0] a|a',
        '  - args[1] b|',
        '  + none |[]',
        '  ~ port_map[http] 80|"80"',
        '  = same true|true',
      ],
    ],
    [
      'the environment of a task',
      {},
      { [`${task}.Env`]: { GREETING: 'hi', X: 'y' } },
      ['~ group web', '~ task server', '~ Env[GREETING] hello|hi', '+ Env[X] |y'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(golden(compareJobs(sampleWith(before), sampleWith(after)))).toEqual(expected);
  });

  test('a check of a service, without unchanged blocks', () => {
    const service = (Path: string) => [
      { Name: 's', PortLabel: 'http', Tags: ['t'], Checks: [check(Path), check('/same', 'other')] },
    ];
    const told = compareJobs(
      sampleWith({ [`${group}.Services`]: service('/a') }),
      sampleWith({ [`${group}.Services`]: service('/b') }),
    );
    expect(golden(told).filter((line) => !line.includes('='))).toEqual([
      '~ group web',
      '~ Service:',
      '  ~ Check:',
      '    ~ Path /a|/b',
    ]);
  });

  test('added and deleted groups and tasks', () => {
    const TaskGroups = [
      { ...webJob.TaskGroups[0], Name: 'api', Tasks: [{ Name: 'x', Driver: 'mock' }] },
    ];
    const told = golden(compareJobs(sample, sampleWith({ TaskGroups })));
    expect(told.filter((line) => /^. (group|task) /.test(line))).toEqual([
      '+ group api',
      '+ task x',
      '- group web',
      '- task server',
    ]);
  });
});

function check(Path: string, Name = 'c') {
  return { Name, Type: 'http', Path, Interval: 1e9, Timeout: 1e9 };
}

describe('types and order', () => {
  test('a new job, and a deleted job', () => {
    const added = compareJobs(undefined, sample);
    expect(added).toMatchObject({ Type: 'Added', ID: 'web', TaskGroups: [{ Type: 'Added' }] });
    expect(typesIn(added)).toEqual(new Set(['Added', 'None']));
    const gone = compareJobs(sample, undefined);
    expect(gone).toMatchObject({ Type: 'Deleted', ID: 'web', TaskGroups: [{ Type: 'Deleted' }] });
    expect(compareJobs(undefined, undefined).Type).toBe('None');
  });

  test('groups and tasks, unchanged ones included, are in the order of their names', () => {
    const base = webJob.TaskGroups[0]!;
    const TaskGroups = ['b', 'c', 'a'].map((Name) => ({ ...base, Name }));
    const old = canonicalizeJob({ ...webJob, TaskGroups });
    const next = canonicalizeJob({ ...webJob, TaskGroups: TaskGroups.slice(1) });
    expect(compareJobs(old, next).TaskGroups!.map(({ Name, Type }) => [Name, Type])).toEqual([
      ['a', 'None'],
      ['b', 'Deleted'],
      ['c', 'None'],
    ]);
  });
});

function typesIn(diff: JobDiff): Set<string> {
  const types = JSON.stringify(diff).matchAll(/"Type":"(None|Added|Deleted|Edited)","/g);
  return new Set([...types].map(([, type]) => type!));
}

/** Jobs that differ in some scalars and some blocks. */
const words = fc.constantFrom('', 'a', 'b', '1');
const map = fc.dictionary(fc.constantFrom('x', 'y', 'z'), words, { maxKeys: 3 });
const constraints = fc.array(
  fc.record({ LTarget: words, Operand: fc.constantFrom('=', '!='), RTarget: words }),
  { maxLength: 3 },
);
const anyTask = fc.record({
  Name: fc.constantFrom('t1', 't2', 't3'),
  Driver: words,
  User: words,
  Leader: fc.boolean(),
  KillTimeout: fc.constantFrom(1e9, 5e9),
  Env: map,
  Config: fc.dictionary(
    fc.constantFrom('p', 'q'),
    fc.oneof(words, fc.integer({ min: 0, max: 2 }), fc.array(words, { maxLength: 2 }), map),
    { maxKeys: 2 },
  ),
  Constraints: constraints,
  Templates: fc.uniqueArray(fc.record({ DestPath: words, EmbeddedTmpl: words }), {
    maxLength: 3,
    selector: ({ DestPath }) => DestPath,
  }),
});
const unique = { minLength: 1, selector: ({ Name }: { Name: string }) => Name };
const anyGroup = fc.record({
  Name: fc.constantFrom('g1', 'g2', 'g3'),
  Count: fc.nat(3),
  Meta: map,
  ShutdownDelay: fc.constantFrom(null, 0, 1e9),
  Networks: fc.array(fc.record({ Mode: words, Hostname: words }), { maxLength: 2 }),
  Services: fc.array(fc.record({ Name: words, Tags: fc.array(words, { maxLength: 2 }) }), {
    maxLength: 3,
  }),
  Tasks: fc.uniqueArray(anyTask, { ...unique, maxLength: 3 }),
});
const anyJob = fc
  .record({
    ID: fc.constant('web'),
    Priority: fc.integer({ min: 1, max: 3 }),
    AllAtOnce: fc.boolean(),
    Region: words,
    Datacenters: fc.uniqueArray(words, { maxLength: 3 }),
    Meta: map,
    Constraints: constraints,
    TaskGroups: fc.uniqueArray(anyGroup, { ...unique, maxLength: 3 }),
  })
  .map((input) => canonicalizeJob(input));

const swapped: Readonly<Record<DiffType, DiffType>> = {
  Added: 'Deleted',
  Deleted: 'Added',
  Edited: 'Edited',
  None: 'None',
};

/** The difference with old and new exchanged, whatever the order of siblings. */
function mirrored(value: unknown, swap: boolean): unknown {
  if (Array.isArray(value)) {
    return value
      .map((one) => mirrored(one, swap))
      .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const row = value as Record<string, unknown>;
  const turned = swap && 'Old' in row ? { ...row, Old: row.New, New: row.Old } : row;
  return Object.fromEntries(
    Object.entries(turned)
      .map(([key, one]) =>
        key === 'Type' && swap ? [key, swapped[one as DiffType]] : [key, mirrored(one, swap)],
      )
      .sort(([left], [right]) => (left! < right! ? -1 : 1)),
  );
}

describe('properties', () => {
  test('a job does not differ from itself', () => {
    fc.assert(
      fc.property(anyJob, (job) => {
        const diff = compareJobs(job, structuredClone(job));
        expect([diff.Type, changedValues(diff)]).toEqual(['None', []]);
      }),
    );
  });

  test('the reverse difference is the mirror', () => {
    fc.assert(
      fc.property(anyJob, anyJob, (old, next) => {
        expect(mirrored(compareJobs(next, old), false)).toEqual(
          mirrored(compareJobs(old, next), true),
        );
      }),
      { numRuns: 100 },
    );
  });

  test('the differences of simple fields turn the old job into the new job', () => {
    const jobFields = ['Priority', 'AllAtOnce', 'Region', 'Name', 'NodePool'] as const;
    const taskFields = ['Driver', 'User', 'Leader', 'KillTimeout'] as const;
    const patched = (
      old: Readonly<Record<string, unknown>>,
      fields: readonly FieldDiff[] | null,
      names: readonly string[],
    ) => {
      const changes = new Map((fields ?? []).map(({ Name, New }) => [Name, New]));
      return names.map((name) => changes.get(name) ?? String(old[name]));
    };
    const textOf = (row: Readonly<Record<string, unknown>>, names: readonly string[]) =>
      names.map((name) => String(row[name]));
    fc.assert(
      fc.property(anyJob, anyJob, (old, next) => {
        const { Fields, TaskGroups } = compareJobs(old, next);
        expect(patched(old, Fields, jobFields)).toEqual(textOf(next, jobFields));
        for (const { Name, Tasks } of TaskGroups!) {
          const [before, after] = [old, next].map(
            (job) => job.TaskGroups.find((one) => one.Name === Name)?.Tasks ?? [],
          );
          for (const diff of Tasks!) {
            const was = before!.find((one) => one.Name === diff.Name);
            const is = after!.find((one) => one.Name === diff.Name);
            if (was === undefined || is === undefined) continue;
            expect(patched(was, diff.Fields, taskFields)).toEqual(textOf(is, taskFields));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a difference is "Edited" if and only if it lists a change', () => {
    fc.assert(
      fc.property(anyJob, anyJob, (old, next) => {
        const diff = compareJobs(old, next);
        const groups = [...(diff.TaskGroups ?? [])];
        const isListed = changedValues(diff).length > 0;
        const comesOrGoes = groups
          .flatMap(({ Type, Tasks }) => [Type, ...(Tasks ?? []).map((one) => one.Type)])
          .some((type) => type === 'Added' || type === 'Deleted');
        expect(diff.Type).toBe(isListed || comesOrGoes ? 'Edited' : 'None');
      }),
      { numRuns: 300 },
    );
  });
});
