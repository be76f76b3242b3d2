import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import { destructiveChange } from './destructive-change.ts';
import { webJobWith } from './sample.test-helper.ts';

const before = canonicalizeJob(webJobWith({}));
const change = (changes: Record<string, unknown>): string | undefined =>
  destructiveChange(before, canonicalizeJob(webJobWith(changes)), 'web');

const group = 'TaskGroups.0';
const task = 'TaskGroups.0.Tasks.0';

describe('changes that need a new allocation', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ [`${group}.Tasks.1`]: { Name: 'b' } }, 'number of tasks'],
    [{ [`${task}.Name`]: 'b' }, 'task b: new'],
    [{ [`${group}.EphemeralDisk`]: { SizeMB: 301 } }, 'EphemeralDisk'],
    [{ [`${group}.Networks`]: [] }, 'Networks'],
    [{ [`${group}.Networks.0.Mode`]: 'bridge' }, 'Networks'],
    [{ [`${group}.Networks.0.DynamicPorts.0.To`]: 80 }, 'Networks'],
    [{ [`${group}.Networks.0.ReservedPorts`]: [{ Label: 'a', Value: 80 }] }, 'Networks'],
    [{ [`${group}.Registry`]: { Namespace: 'x' } }, 'Registry'],
    [{ [`${group}.Services`]: [{ Connect: { Native: true } }] }, 'Connect'],
    [{ [`${group}.Volumes`]: { d: { Type: 'host', Source: 's' } } }, 'Volumes'],
    [{ [`${group}.RestartPolicy`]: { RenderTemplates: true } }, 'RenderTemplates'],
    [{ [`${task}.Driver`]: 'exec' }, 'task server: Driver'],
    [{ [`${task}.User`]: 'nobody' }, 'task server: User'],
    [{ [`${task}.Config.command`]: 'deno' }, 'task server: Config'],
    [{ [`${task}.Env.GREETING`]: 'hi' }, 'task server: Env'],
    [{ [`${task}.Artifacts`]: [{ GetterSource: 'x' }] }, 'task server: Artifacts'],
    [{ [`${task}.Secrets`]: {} }, 'task server: Secrets'],
    [{ [`${task}.Templates`]: [{}] }, 'task server: Templates'],
    [{ [`${task}.VolumeMounts`]: [{}] }, 'task server: VolumeMounts'],
    [{ [`${task}.Identities`]: [{}] }, 'task server: Identities'],
    [{ [`${task}.Resources.CPU`]: 101 }, 'task server: Resources.CPU'],
    [{ [`${task}.Resources.MemoryMB`]: 65 }, 'task server: Resources.MemoryMB'],
    [{ [`${task}.Resources.Devices`]: [{ Name: 'gpu' }] }, 'task server: Resources.Devices'],
    [{ [`${task}.LogConfig.Disabled`]: true }, 'task server: LogConfig.Disabled'],
    [{ Meta: { a: 'b' } }, 'task server: Meta'],
    [{ [`${group}.Meta`]: { a: 'b' } }, 'task server: Meta'],
  ])('%j: %s', (changes, reason) => {
    expect(change(changes)).toBe(reason);
  });
});

describe('changes in place', () => {
  test.each<Record<string, unknown>>([
    {},
    { [`${group}.Count`]: 9 },
    { [`${group}.Constraints`]: [{ LTarget: 'a', Operand: '=', RTarget: 'a' }] },
    { [`${group}.Services`]: [{ PortLabel: 'http' }] },
    { [`${group}.Update`]: { MaxParallel: 2 } },
    { [`${group}.Migrate`]: { MaxParallel: 2 } },
    { [`${group}.ReschedulePolicy`]: { Delay: 60e9 } },
    { [`${group}.RestartPolicy`]: { Attempts: 1 } },
    { [`${group}.Scaling`]: { Max: 9 } },
    { [`${task}.KillTimeout`]: 1 },
    { [`${task}.KillSignal`]: 'SIGINT' },
    { [`${task}.Leader`]: true },
    { [`${task}.LogConfig.MaxFiles`]: 4 },
    { [`${task}.Actions`]: [{ Name: 'a', Command: 'x' }] },
    { Priority: 60 },
  ])('%j', (changes) => {
    expect(change(changes)).toBeUndefined();
  });

  test('metadata that moves from the job to the task', () => {
    const old = canonicalizeJob(webJobWith({ Meta: { a: 'b' } }));
    const next = canonicalizeJob(webJobWith({ [`${task}.Meta`]: { a: 'b' } }));
    expect(destructiveChange(old, next, 'web')).toBeUndefined();
  });
});
