import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { below } from '../path.ts';
import { canonicalizeJob } from './canonicalize.ts';
import { webJob, webJobWith } from './sample.test-helper.ts';
import { attribute, messages, table } from './validate.test-helper.ts';
import { validateJob } from './validate.ts';

const t = 'TaskGroups[0].Tasks[0]';
const rule = { LTarget: attribute('attr.kernel.name'), RTarget: 'linux', Operand: '=' };

test('the sample is valid', () => {
  expect(messages({})).toEqual([]);
});

table('the job', '', [
  [{ ID: '' }, 'ID is required'],
  [{ ID: 'a b' }, 'ID must not hold a space'],
  [{ ID: 'a\0b', Name: 'x' }, 'ID must not hold a NUL character'],
  [{ ID: 'team/web' }],
  [{ ID: 'x'.repeat(256) }],
  [{ ID: 'x'.repeat(257), Name: 'x' }, 'ID must be at most 256 characters long'],
  [{ Name: 'a\0' }, 'Name must not hold a NUL character'],
  [{ Type: '_core' }, 'Type must be one of service, batch, system, sysbatch, got "_core"'],
  [{ Priority: 1 }],
  [{ Priority: 100 }],
  [{ Priority: 101 }, 'Priority must be from 1 to 100, got 101'],
  [{ Priority: -1 }, 'Priority must be from 1 to 100, got -1'],
  [{ Datacenters: ['dc1', ''] }, 'Datacenters must not hold an empty name'],
  [{ TaskGroups: [] }, 'TaskGroups must hold at least one group'],
  [{ 'TaskGroups.1': { ...webJob.TaskGroups[0] } }, 'TaskGroups[1].Name "web" is taken'],
  [{ 'TaskGroups.0.Count': 50_000 }],
  [
    { 'TaskGroups.0.Count': 50_001 },
    'TaskGroups ask for 50001 allocations together, and 50000 is the limit',
  ],
  [{ Payload: 'eA==' }, 'Payload is given by a dispatch, not by the job'],
  [
    { UI: { Description: 'x'.repeat(1001) } },
    'UI.Description must be at most 1000 characters long',
  ],
  [{ Type: 'batch', Update: { MaxParallel: 1 } }, 'Update is not possible in a batch job'],
  [
    { Type: 'system', 'TaskGroups.0.Count': 1, Affinities: [{ ...rule, Weight: 1 }] },
    'Affinities are not possible in a system job',
  ],
]);

table('rules between fields of the job', '', [
  [{ Type: 'batch', Update: { Stagger: 1 } }, 'Update is not possible in a batch job'],
  [{ Meta: { '': 'x' } }, 'Meta[""] has no name'],
  [{ Meta: { a: 'x\0' } }, 'Meta.a must not hold a NUL character'],
  [
    { Meta: { a: 'x'.repeat(65_537) } },
    'Meta.a must be a name and a value of at most 65536 characters',
  ],
  [
    { Meta: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`m${n}`, ''])) },
    'Meta has 1001 entries; at most 1000 are kept',
  ],
  [{ VersionTag: { Description: 'x' } }, 'VersionTag.Name is required'],
  [{ Multiregion: { Regions: [{}] } }, 'Multiregion.Regions[0].Name is required'],
  [
    { Multiregion: { Regions: [{ Name: 'a' }, { Name: 'a' }] } },
    'Multiregion.Regions[1].Name "a" is taken',
  ],
  [
    {
      'TaskGroups.0.Update': { Canary: 30_000 },
      'TaskGroups.1': { ...webJob.TaskGroups[0], Name: 'b', Update: { Canary: 20_001 } },
    },
    'TaskGroups ask for 50001 canaries together, and 50000 is the limit',
  ],
]);

table('periodic and parameterized', '', [
  [{ Type: 'batch', Periodic: { Specs: ['*/5 * * * *', '@hourly'] } }],
  [{ Periodic: { Specs: ['@daily'] } }, 'Periodic is not possible in a service job'],
  [{ Type: 'batch', Periodic: { Enabled: false } }],
  [{ Type: 'batch', Periodic: {} }, 'Periodic needs Specs'],
  [
    { Type: 'batch', Periodic: { Spec: '@daily', Specs: ['@daily'] } },
    'Periodic.Spec is not possible together with Specs',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['* * *'] } },
    'Periodic.Specs[0] is not a schedule: "* * *": it has 3 fields, and needs five, six or seven',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['60 * * * *'] } },
    'Periodic.Specs[0] is not a schedule: "60 * * * *": Invalid value for minute: 60',
  ],
  [
    { Type: 'batch', Periodic: { Spec: '@reboot' } },
    'Periodic.Spec is not a schedule: "@reboot": there is no such macro',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['@every 1500ms'] } },
    'Periodic.Specs[0] is not a schedule: "@every 1500ms": @every needs whole seconds, one at least',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['@every often'] } },
    'Periodic.Specs[0] is not a schedule: "@every often": @every needs a duration such as 5m',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['0 0 31 2 *', '0 0 30 2 *'] } },
    'Periodic.Specs[0] never comes: "0 0 31 2 *"',
  ],
  [
    { Type: 'batch', Periodic: { Specs: Array(17).fill('@daily') } },
    'Periodic.Specs must hold at most 16 expressions',
  ],
  [
    { Type: 'batch', Periodic: { Specs: [`0 0 * * ${'1,'.repeat(150)}1`] } },
    expect.stringContaining('it is longer than 256 characters') as unknown as string,
  ],
  [{ Type: 'batch', Periodic: { Specs: ['*/10 * * * * *', '@every 90s'], TimeZone: '' } }],
  [
    { Type: 'batch', ID: 'x'.repeat(240), Periodic: { Specs: ['@daily'] } },
    'ID must have at most 236 characters, as its children have more',
  ],
  [
    { Type: 'batch', ID: 'x'.repeat(240), ParameterizedJob: {} },
    'ID must have at most 227 characters, as its children have more',
  ],
  [
    { Type: 'batch', ID: 'x'.repeat(220), Periodic: { Specs: ['@daily'] }, ParameterizedJob: {} },
    'ID must have at most 207 characters, as its children have more',
  ],
  [{ Type: 'batch', Periodic: { Specs: ['@daily'] }, ParameterizedJob: {} }],
  [
    { Type: 'batch', Periodic: { Specs: ['@daily'], SpecType: 'x' } },
    'Periodic.SpecType must be one of cron, got "x"',
  ],
  [
    { Type: 'batch', Periodic: { Specs: ['@daily'], TimeZone: 'Mars/Base' } },
    'Periodic.TimeZone is not a known time zone: "Mars/Base"',
  ],
  [
    { Type: 'batch', ParameterizedJob: { Payload: 'x' } },
    'ParameterizedJob.Payload must be one of optional, required, forbidden, got "x"',
  ],
  [
    { Type: 'batch', ParameterizedJob: { MetaRequired: ['a'], MetaOptional: ['b', 'a'] } },
    'ParameterizedJob.MetaOptional[1] is in MetaRequired as well',
  ],
  [{ ParameterizedJob: {} }, 'ParameterizedJob is not possible in a service job'],
]);

table('constraints, affinities, spreads', '', [
  [{ Constraints: [rule] }],
  [{ Constraints: [{ ...rule, Operand: '' }] }, 'Constraints[0].Operand is required'],
  [
    { Constraints: [{ ...rule, Operand: '~' }] },
    'Constraints[0].Operand is not a known operand: "~"',
  ],
  [{ Constraints: [{ ...rule, LTarget: '' }] }, 'Constraints[0].LTarget is required'],
  [
    { Constraints: [{ ...rule, LTarget: '${attr.' }] },
    'Constraints[0].LTarget is not a well-formed reference: "${attr."',
  ],
  [{ Constraints: [{ ...rule, RTarget: '' }] }, 'Constraints[0].RTarget is required with ='],
  [
    { Constraints: [{ ...rule, Operand: 'regexp', RTarget: '(' }] },
    'Constraints[0].RTarget is not a regular expression: "("',
  ],
  // Patterns that only a backtracking engine could match.
  [
    { Constraints: [{ ...rule, Operand: 'regexp', RTarget: '(?=a)' }] },
    'Constraints[0].RTarget is not a regular expression: "(?=a)"',
  ],
  [{ Constraints: [{ ...rule, Operand: 'version', RTarget: '>= 1.2, < 2' }] }],
  [
    { Constraints: [{ ...rule, Operand: 'version', RTarget: 'new' }] },
    'Constraints[0].RTarget is not a version constraint: "new"',
  ],
  [
    { Constraints: [{ ...rule, Operand: 'semver', RTarget: '>= 1.2' }] },
    'Constraints[0].RTarget is not a semantic version constraint: ">= 1.2"',
  ],
  [
    { Constraints: [{ ...rule, Operand: 'is_set' }] },
    'Constraints[0].RTarget must be empty with is_set',
  ],
  [{ Constraints: [{ Operand: 'distinct_hosts' }] }],
  [
    { Constraints: [{ ...rule, Operand: 'distinct_property', RTarget: '0' }] },
    'Constraints[0].RTarget must be a count of at least 1, got "0"',
  ],
  [
    { 'TaskGroups.0.Tasks.0.Constraints': [{ Operand: 'distinct_hosts' }] },
    `${t}.Constraints[0].Operand distinct_hosts is not possible here`,
  ],
  [{ Affinities: [rule] }],
  [{ Affinities: [{ ...rule, Weight: 0 }] }, 'Affinities[0].Weight must not be 0'],
  [
    { Affinities: [{ ...rule, Weight: 101 }] },
    'Affinities[0].Weight must be from -100 to 100, got 101',
  ],
  [
    { Affinities: [{ ...rule, Operand: 'is_set' }] },
    'Affinities[0].Operand is not a known operand: "is_set"',
  ],
  [{ Spreads: [{}] }, 'Spreads[0].Attribute is required'],
  [
    { Spreads: [{ Attribute: attribute('node.datacenter'), Weight: 0 }] },
    'Spreads[0].Weight must be from 1 to 100, got 0',
  ],
  [
    {
      Spreads: [
        {
          Attribute: 'x',
          SpreadTarget: [
            { Value: 'a', Percent: 60 },
            { Value: 'b', Percent: 41 },
          ],
        },
      ],
    },
    'Spreads[0].SpreadTarget has percentages that add up to 101',
  ],
  [
    { Spreads: [{ Attribute: 'x', SpreadTarget: [{ Value: 'a' }, { Value: 'a' }] }] },
    'Spreads[0].SpreadTarget[1].Value "a" is taken',
  ],
]);

describe('all faults', () => {
  test('come at once, with pointers below the body', () => {
    const job = canonicalizeJob(
      webJobWith({ ID: '', Priority: 200, 'TaskGroups.0.Tasks.0.Resources': { CPU: 0 } }),
    );
    expect(validateJob(job, below(null, 'Job')).map((fault) => fault.pointer)).toEqual([
      '/Job/Priority',
      '/Job/ID',
      '/Job/TaskGroups/0/Tasks/0/Resources/CPU',
    ]);
  });

  test('random values of the right types have faults and never throw', () => {
    const text = fc.constantFrom('', 'x', '${', '__proto__', 'constructor', '\0');
    const task = fc.record(
      {
        Name: text,
        Driver: text,
        KillTimeout: fc.integer(),
        VolumeMounts: fc.array(fc.record({ Volume: text })),
        Services: fc.array(fc.record({ Name: text, PortLabel: text })),
      },
      { requiredKeys: [] },
    );
    const group = fc.record(
      {
        Name: text,
        Count: fc.integer(),
        Tasks: fc.array(task),
        Volumes: fc.dictionary(text, fc.record({ Type: text })),
        Constraints: fc.array(
          fc.record({
            LTarget: text,
            RTarget: text,
            Operand: fc.constantFrom('regexp', 'version', 'distinct_property', 'x'),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.record({ ID: text, Type: text, TaskGroups: fc.array(group) }), (input) => {
        for (const fault of validateJob(canonicalizeJob(input))) {
          expect(fault.pointer).toMatch(/^\//);
        }
      }),
    );
  });

  test('a job of 100 valid groups is valid', () => {
    const groups = Array.from({ length: 100 }, (_, index) => ({
      ...webJob.TaskGroups[0],
      Name: `g${index}`,
    }));
    expect(validateJob(canonicalizeJob({ ...webJob, TaskGroups: groups }))).toEqual([]);
  });
});
