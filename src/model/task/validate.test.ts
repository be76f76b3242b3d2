import { expect, test } from 'vitest';
import { messages, second, table } from '../job/validate.test-helper.ts';

const t = 'TaskGroups[0].Tasks[0]';

table('tasks', 'TaskGroups.0.Tasks.0.', [
  [{ Name: '' }, `${t}.Name is required`],
  [{ Name: 'alloc' }, `${t}.Name must not be "alloc": that directory is shared`],
  [{ Name: 'a/b' }, `${t}.Name must not hold a slash or backslash`],
  [{ Name: '.' }, `${t}.Name must not be "." or ".."`],
  [{ Name: '..' }, `${t}.Name must not be "." or ".."`],
  [{ Name: 'a\\' }, `${t}.Name must not end in a slash or backslash`],
  [{ Name: 'a\nb' }, `${t}.Name must not hold a control character`],
  [{ Name: 'a\u009b' }, `${t}.Name must not hold a control character`],
  [{ Name: '...' }],
  [{ Name: '.hidden é ' }],
  [{ Driver: '' }, `${t}.Driver is required`],
  [{ KillTimeout: -1 }, `${t}.KillTimeout must be at least 0s, got -1ns`],
  [
    { KillTimeout: 601 * second },
    `${t}.KillTimeout must not be more than the ProgressDeadline of the update`,
  ],
  [{ Resources: { CPU: 0 } }, `${t}.Resources.CPU must be at least 1, got 0`],
  [{ Resources: { Cores: 1, CPU: 1 } }, `${t}.Resources.Cores is not possible together with CPU`],
  [{ Resources: { MemoryMB: 9 } }, `${t}.Resources.MemoryMB must be at least 10, got 9`],
  [{ Resources: { MemoryMaxMB: -1 } }],
  [
    { Resources: { MemoryMaxMB: 299 } },
    `${t}.Resources.MemoryMaxMB must be 0, -1 or at least MemoryMB`,
  ],
  [
    { Resources: { DiskMB: 1 } },
    `${t}.Resources.DiskMB must be 0: the group's EphemeralDisk is the disk of its tasks`,
  ],
  [{ Resources: { SecretsMB: 301 } }, `${t}.Resources.SecretsMB must not be more than MemoryMB`],
  [{ Resources: { Devices: [{}] } }, `${t}.Resources.Devices[0].Name is required`],
  [
    { Resources: { NUMA: { Devices: ['gpu'] } } },
    `${t}.Resources.NUMA.Devices[0] is not the name of a device in Devices`,
  ],
  [{ LogConfig: { MaxFiles: 0 } }, `${t}.LogConfig.MaxFiles must be from 1 to 1000, got 0`],
  [
    { LogConfig: { MaxFiles: 30, MaxFileSizeMB: 10 } },
    `${t}.LogConfig may take 300 MB, which is not less than the group's EphemeralDisk`,
  ],
  [{ LogConfig: { MaxFiles: 299, MaxFileSizeMB: 1 } }],
  [{ Artifacts: [{}] }, `${t}.Artifacts[0].GetterSource is required`],
  [
    { Artifacts: [{ GetterSource: 'x', RelativeDest: '../x' }] },
    `${t}.Artifacts[0].RelativeDest must not leave the directory of the task`,
  ],
  [
    { Artifacts: [{ GetterSource: 'x', GetterOptions: { checksum: 'md5:00' } }] },
    `${t}.Artifacts[0].GetterOptions.checksum must be md5, sha1, sha256 or sha512, a colon and as many hex digits, got "md5:00"`,
  ],
  [{ Templates: [{ DestPath: 'a' }] }, `${t}.Templates[0] needs SourcePath or EmbeddedTmpl`],
  [{ Templates: [{ EmbeddedTmpl: 'x' }] }, `${t}.Templates[0].DestPath is required`],
  [
    { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a/../../b' }] },
    `${t}.Templates[0].DestPath must not leave the directory of the task`,
  ],
  [
    { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', Perms: '9' }] },
    `${t}.Templates[0].Perms must be octal digits, got "9"`,
  ],
  [
    { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeMode: 'signal', Envvars: true }] },
    `${t}.Templates[0].ChangeMode signal is not possible together with Envvars`,
  ],
  [
    { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', ChangeMode: 'script' }] },
    `${t}.Templates[0].ChangeScript is required`,
  ],
  [
    {
      Templates: [
        { EmbeddedTmpl: 'x', DestPath: 'a' },
        { EmbeddedTmpl: 'y', DestPath: 'a' },
      ],
    },
    `${t}.Templates[1].DestPath "a" is taken`,
  ],
  [
    { Actions: [{ Name: 'a b', Command: 'x' }] },
    `${t}.Actions[0].Name must be 1 to 128 characters without spaces`,
  ],
  [{ Actions: [{ Name: 'a' }] }, `${t}.Actions[0].Command is required`],
  [
    { VolumeMounts: [{ Volume: 'constructor', Destination: '/d' }] },
    `${t}.VolumeMounts[0].Volume names no volume of the group: "constructor"`,
  ],
  [
    { DispatchPayload: { File: '../x' } },
    `${t}.DispatchPayload.File must stay inside the task's local directory`,
  ],
  [
    { SecretFetches: [{ Name: 'a-b', Provider: 'p', Path: 'x' }] },
    `${t}.SecretFetches[0].Name must be 1 to 128 letters, digits or underscores, got "a-b"`,
  ],
  [{ Identity: { TTL: 1 } }, `${t}.Identity.TTL is not possible for the default identity`],
  [
    { Identities: [{ Name: 'x', Filepath: 'y' }] },
    `${t}.Identities[0].Filepath needs File to be true`,
  ],
  [
    { Identities: [{ Name: 'default' }] },
    `${t}.Identities[0].Name must not be "default": the default identity is the field Identity`,
  ],
  [{ Identities: [{ Name: 'a' }, { Name: 'a' }] }, `${t}.Identities[1].Name "a" is taken`],
  [
    { SecretFetches: [{ Name: 'a', Provider: 'p', Path: 'x', Config: { a: 1 }, Env: { A: 'b' } }] },
    `${t}.SecretFetches[0].Env is not possible together with Config`,
  ],
  [{ Env: { '': 'x' } }, `${t}.Env[""] has no name`],
  [{ Env: { 'a=b': 'x' } }, `${t}.Env["a=b"] must not hold a "=" in its name`],
  [{ Env: { A: 'x\0' } }, `${t}.Env.A must not hold a NUL character`],
  [{ Env: { A: 'x'.repeat(131_069) } }],
  [
    { Env: { A: 'x'.repeat(131_070) } },
    `${t}.Env.A has 131072 bytes with its name, and 131071 is the limit`,
  ],
  [
    { Resources: { Devices: [{ Name: 'a//b' }] } },
    `${t}.Resources.Devices[0].Name must be type, vendor/type or vendor/type/name`,
  ],
  [{ ScalingPolicies: [{}] }, `${t}.ScalingPolicies[0].Max is required`],
  [
    { ScalingPolicies: [{ Min: 2, Max: 1 }] },
    `${t}.ScalingPolicies[0].Min must not be more than Max`,
  ],
  [
    { Templates: [{ EmbeddedTmpl: 'x', DestPath: 'a', Uid: -2 }] },
    `${t}.Templates[0].Uid must be from -1 to 4294967294, got -2`,
  ],
  [{ CSIPluginConfig: { Type: 'node' } }, `${t}.CSIPluginConfig.ID is required`],
]);

test('all faults of a name are told at once', () => {
  expect(messages({ 'TaskGroups.0.Tasks.0.Name': '\t/x\\' })).toEqual([
    `${t}.Name must not end in a slash or backslash`,
    `${t}.Name must not hold a control character`,
    `${t}.Name must not hold a slash or backslash`,
  ]);
});
