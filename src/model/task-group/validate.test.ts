import { expect, test } from 'vitest';
import { messages, second, table } from '../job/validate.test-helper.ts';

const g = 'TaskGroups[0]';
const t = 'TaskGroups[0].Tasks[0]';
const hostVolume = { Type: 'host', Source: 'a' };

table('groups', 'TaskGroups.0.', [
  [{ Name: '' }, `${g}.Name is required`],
  [{ Name: '..' }, `${g}.Name must not be "." or ".."`],
  [{ Name: 'a/' }, `${g}.Name must not end in a slash or backslash`],
  [{ Name: 'a\u001b[2J' }, `${g}.Name must not hold a control character`],
  [{ Name: 'a/b' }],
  [{ Volumes: { '..': hostVolume } }, `${g}.Volumes[".."] must not be "." or ".."`],
  [{ Volumes: { 'a\n': hostVolume } }, `${g}.Volumes["a\\n"] must not hold a control character`],
  [
    { Volumes: { a: { ...hostVolume, Source: 'b/' } } },
    `${g}.Volumes.a.Source must not end in a slash or backslash`,
  ],
  [{ Count: -1 }, `${g}.Count must be at least 0, got -1`],
  [{ '^Type': 'system' }, `${g}.Count must be 0 or 1 in a system job`],
  [
    { EphemeralDisk: { SizeMB: 9 }, 'Tasks.0.LogConfig': { MaxFiles: 1, MaxFileSizeMB: 1 } },
    `${g}.EphemeralDisk.SizeMB must be at least 10, got 9`,
  ],
  [{ Tasks: [] }, `${g}.Tasks must hold at least one task`],
  [{ 'Tasks.1': { Name: 'server', Driver: 'x' } }, `${g}.Tasks[1].Name "server" is taken`],
  [
    { 'Tasks.0.Leader': true, 'Tasks.1': { Name: 'b', Driver: 'x', Leader: true } },
    `${g}.Tasks may have one Leader at most`,
  ],
  [
    { 'Tasks.0.Lifecycle': { Hook: 'prestart' } },
    `${g}.Tasks must hold at least one task without a lifecycle hook`,
  ],
  [{ ShutdownDelay: -1 }, `${g}.ShutdownDelay must be at least 0s, got -1ns`],
  [{ MaxRunDuration: 5 }, `${g}.MaxRunDuration is not possible in a service job`],
  [{ '^Type': 'batch', MaxRunDuration: 0 }, `${g}.MaxRunDuration must be at least 1ns, got 0s`],
  [
    { '^Type': 'sysbatch', ReschedulePolicy: { Attempts: 1 } },
    `${g}.ReschedulePolicy is not possible in a sysbatch job`,
  ],
  [{ '^Type': 'batch', Migrate: {} }, `${g}.Migrate is not possible in a batch job`],
  [{ '^Type': 'batch', Update: { MaxParallel: 1 } }, `${g}.Update is not possible in a batch job`],
  [{ Scaling: {} }, `${g}.Scaling.Max is required`],
  [
    { Scaling: { Max: 9, Type: 'vertical' } },
    `${g}.Scaling.Type must be horizontal for a group, got "vertical"`,
  ],
  [{ '^Type': 'batch', Update: { Canary: 1 } }, `${g}.Update is not possible in a batch job`],
  [
    { '^Type': 'system', Count: 1, Update: { Canary: 101 } },
    `${g}.Update.Canary is a percentage in a system job, got 101`,
  ],
  [{ Meta: { '': '' } }, `${g}.Meta[""] has no name`],
  [{ Scaling: { Min: 4, Max: 5 } }, `${g}.Count must be within the scaling range 4 to 5`],
  [{ Scaling: { Min: 3, Max: 3 } }],
  [
    { '^Type': 'system', Count: 1, Scaling: { Max: 1 } },
    `${g}.Scaling is not possible in a system job`,
  ],
]);

table('policies', 'TaskGroups.0.', [
  [{ Update: { Stagger: 0 } }, `${g}.Update.Stagger must be more than 0`],
  [{ Update: { MaxParallel: -1 } }, `${g}.Update.MaxParallel must be at least 0, got -1`],
  [{ Update: { MaxParallel: 0, Stagger: 0 } }],
  [
    { Update: { HealthCheck: 'x' } },
    `${g}.Update.HealthCheck must be one of checks, task_states, manual, got "x"`,
  ],
  [
    { Update: { MinHealthyTime: 300 * second } },
    `${g}.Update.MinHealthyTime must be less than HealthyDeadline`,
  ],
  [
    { Update: { ProgressDeadline: 300 * second } },
    `${g}.Update.HealthyDeadline must be less than ProgressDeadline`,
  ],
  [{ Update: { ProgressDeadline: 0 } }],
  [{ Update: { AutoPromote: true } }, `${g}.Update.AutoPromote needs a Canary count above 0`],
  [
    { RestartPolicy: { Mode: 'x' }, 'Tasks.0.RestartPolicy': { Mode: 'fail' } },
    `${g}.RestartPolicy.Mode must be one of fail, delay, got "x"`,
  ],
  [
    { 'Tasks.0.RestartPolicy': { Mode: 'delay', Attempts: 0 } },
    `${t}.RestartPolicy.Attempts must be above 0 with the mode delay`,
  ],
  [
    { 'Tasks.0.RestartPolicy': { Interval: 4 * second, Attempts: 0 } },
    `${t}.RestartPolicy.Interval must be at least 5s`,
  ],
  [
    { 'Tasks.0.RestartPolicy': { Interval: 29 * second } },
    `${t}.RestartPolicy makes 2 attempts 15s apart, which do not fit the interval of 29s`,
  ],
  [{ 'Tasks.0.RestartPolicy': { Interval: 30 * second } }],
  [
    { ReschedulePolicy: { Attempts: 3, Interval: 3600 * second } },
    `${g}.ReschedulePolicy.Attempts must be 0 when Unlimited is true`,
  ],
  [{ ReschedulePolicy: { Attempts: 0, Unlimited: false, Delay: 1 } }],
  [
    { ReschedulePolicy: { Attempts: 1, Unlimited: false } },
    `${g}.ReschedulePolicy.Interval is required with Attempts`,
  ],
  [{ ReschedulePolicy: { Delay: 4 * second } }, `${g}.ReschedulePolicy.Delay must be at least 5s`],
  [
    { ReschedulePolicy: { DelayFunction: 'x' } },
    `${g}.ReschedulePolicy.DelayFunction must be one of constant, exponential, fibonacci, got "x"`,
  ],
  [
    { ReschedulePolicy: { MaxDelay: 29 * second } },
    `${g}.ReschedulePolicy.MaxDelay must not be less than Delay`,
  ],
  [
    { ReschedulePolicy: { Attempts: 1, Interval: 14 * second, Unlimited: false } },
    `${g}.ReschedulePolicy.Interval must be at least 15s`,
  ],
  // 30 + 60 + 120 seconds, then 30 + 30 + 60, then three times 30.
  [
    { ReschedulePolicy: { Attempts: 3, Interval: 209 * second, Unlimited: false } },
    `${g}.ReschedulePolicy.Interval does not fit 3 attempts: make it at least 3m30s`,
  ],
  [{ ReschedulePolicy: { Attempts: 3, Interval: 210 * second, Unlimited: false } }],
  [
    {
      ReschedulePolicy: {
        Attempts: 3,
        Interval: 119 * second,
        Unlimited: false,
        DelayFunction: 'fibonacci',
      },
    },
    `${g}.ReschedulePolicy.Interval does not fit 3 attempts: make it at least 2m0s`,
  ],
  [
    {
      ReschedulePolicy: {
        Attempts: 3,
        Interval: 89 * second,
        Unlimited: false,
        DelayFunction: 'constant',
      },
    },
    `${g}.ReschedulePolicy.Interval does not fit 3 attempts: make it at least 1m30s`,
  ],
  [
    { Disconnect: { Reconcile: 'x' } },
    `${g}.Disconnect.Reconcile must be one of best_score, keep_original, keep_replacement, longest_running, got "x"`,
  ],
  [
    { Disconnect: { StopOnClientAfter: 1, LostAfter: 1 } },
    `${g}.Disconnect.StopOnClientAfter is not possible together with LostAfter`,
  ],
  [
    { Migrate: { MinHealthyTime: 301 * second } },
    `${g}.Migrate.MinHealthyTime must not be more than HealthyDeadline`,
  ],
  [{ Migrate: { HealthCheck: '' } }, `${g}.Migrate.HealthCheck is required`],
]);

test('a delay that never grows is not checked attempt by attempt', () => {
  const ReschedulePolicy = {
    Attempts: 2 ** 53 - 1,
    Unlimited: false,
    Interval: 86_400e9,
    Delay: 0,
  };
  expect(messages({ 'TaskGroups.0.ReschedulePolicy': ReschedulePolicy })).toEqual([
    `${g}.ReschedulePolicy.Delay must be at least 5s`,
  ]);
});

table('networks', 'TaskGroups.0.Networks.0.', [
  [{ Hostname: 'a_b' }, `${g}.Networks[0].Hostname is not a host name: "a_b"`],
  [{ CNI: { Args: { a: 'x;y' } } }, `${g}.Networks[0].CNI.Args.a holds a ";"`],
  [
    { ReservedPorts: [{ Label: 'a' }] },
    `${g}.Networks[0].ReservedPorts[0].Value is required for a reserved port`,
  ],
  [{ DynamicPorts: [{}] }, `${g}.Networks[0].DynamicPorts[0].Label is required`],
  [
    { ReservedPorts: [{ Label: 'http', Value: 80 }] },
    `${g}.Networks[0].DynamicPorts[0].Label "http" is taken`,
  ],
  [
    { ReservedPorts: [{ Label: 'a', Value: 65536 }] },
    `${g}.Networks[0].ReservedPorts[0].Value must be from 0 to 65535, got 65536`,
  ],
  [
    {
      ReservedPorts: [
        { Label: 'a', Value: 80 },
        { Label: 'b', Value: 80, HostNetwork: 'default' },
      ],
    },
    `${g}.Networks[0].ReservedPorts[1].Value 80 is taken already on the host network "default"`,
  ],
  [
    {
      ReservedPorts: [
        { Label: 'a', Value: 80 },
        { Label: 'b', Value: 80, HostNetwork: 'lan' },
      ],
    },
  ],
  [
    { DynamicPorts: [{ Label: 'http', To: -2 }] },
    `${g}.Networks[0].DynamicPorts[0].To must be from -1 to 65535, got -2`,
  ],
  [
    { Mode: 'bridge', DynamicPorts: [{ Label: 'http', IgnoreCollision: true }] },
    `${g}.Networks[0].DynamicPorts[0].IgnoreCollision is only possible in host mode`,
  ],
]);

table('volumes', 'TaskGroups.0.', [
  [{ Volumes: { d: { Type: 'host', Source: 's' } } }],
  [{ Volumes: { d: { Source: 's' } } }, `${g}.Volumes.d.Type is required: host or csi`],
  [{ Volumes: { d: { Type: 'host' } } }, `${g}.Volumes.d.Source is required`],
  [
    { Volumes: { d: { Type: 'host', Source: 's', PerAlloc: true, Sticky: true } } },
    `${g}.Volumes.d.PerAlloc is not possible together with Sticky`,
  ],
  [
    { Volumes: { d: { Type: 'host', Source: 's', AccessMode: 'single-node-reader-only' } } },
    `${g}.Volumes.d.ReadOnly must be true with the access mode single-node-reader-only`,
  ],
  [
    { Volumes: { d: { Type: 'host', Source: 's', MountOptions: {} } } },
    `${g}.Volumes.d.MountOptions is not possible for a host volume`,
  ],
  [
    {
      Volumes: {
        d: {
          Type: 'csi',
          Source: 's',
          AttachmentMode: 'file-system',
          AccessMode: 'single-node-writer',
        },
      },
    },
    `${g}.Volumes.d.AccessMode single-node-writer allows a count of 1, and it is 3`,
  ],
  [
    {
      Volumes: {
        d: {
          Type: 'csi',
          Source: 's',
          AttachmentMode: 'file-system',
          AccessMode: 'single-node-writer',
          PerAlloc: true,
        },
      },
    },
  ],
  [
    { Volumes: { d: { Type: 'csi', Source: 's', AccessMode: 'multi-node-multi-writer' } } },
    `${g}.Volumes.d.AttachmentMode must be file-system or block-device`,
  ],
]);
