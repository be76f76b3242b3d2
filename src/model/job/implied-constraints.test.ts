import { describe, expect, test } from 'vitest';
import type { Constraint } from '../constraint/constraint.ts';
import { canonicalizeJob } from './canonicalize.ts';
import { webJobWith } from './sample.test-helper.ts';

const task = 'TaskGroups.0.Tasks.0';
const own = 'TaskGroups.0.Constraints';

const impliedBy = (changes: Readonly<Record<string, unknown>>): string[] | undefined =>
  canonicalizeJob(webJobWith(changes)).TaskGroups[0]!.Constraints?.map(
    ({ LTarget, Operand, RTarget }: Constraint) => `${LTarget} ${Operand} ${RTarget}`,
  );

describe('the constraints that a group implies', () => {
  const services = '${attr.roster.service_discovery} = true';
  const signals = (names: string) => `\${attr.os.signals} set_contains ${names}`;
  const recent = '${attr.roster.version} semver >= 0.1.0';
  const plugin = (name: string) => `\${attr.plugins.cni.version.${name}} semver >= 0.4.0`;
  test.each<[Record<string, unknown>, string[] | undefined]>([
    [{}, undefined],
    [{ [`${task}.KillSignal`]: 'SIGUSR1' }, [signals('SIGUSR1')]],
    [
      {
        [`${task}.KillSignal`]: 'SIGUSR2',
        [`${task}.Templates`]: [
          { ChangeMode: 'signal' },
          { ChangeMode: 'restart', ChangeSignal: 'SIGINT' },
        ],
      },
      [signals('SIGHUP,SIGUSR2')],
    ],
    [{ [`${task}.KillSignal`]: '${meta.signal}' }, undefined],
    [
      { [`${task}.Secrets`]: { ChangeMode: 'signal' } },
      [signals('SIGHUP'), '${attr.secrets.version} semver >= 0.6.1'],
    ],
    [{ 'TaskGroups.0.Services': [{ PortLabel: 'http' }] }, [services]],
    [{ [`${task}.Services`]: [{ Provider: 'scheduler' }] }, [services]],
    [
      { 'TaskGroups.0.Networks.0.Mode': 'bridge' },
      ['bridge', 'firewall', 'host-local', 'loopback', 'portmap'].map(plugin),
    ],
    [{ [`${task}.Identities`]: [{ Name: 'a' }] }, [recent]],
    [{ [`${task}.Resources.NUMA`]: { Affinity: 'prefer' } }, [recent]],
    [{ [`${task}.Resources.NUMA`]: {} }, undefined],
  ])('%j', (changes, expected) => {
    expect(impliedBy(changes)).toEqual(expected);
  });

  test('a constraint of the group replaces the implied constraint', () => {
    const demand = { LTarget: '${attr.roster.service_discovery}', Operand: 'is_set' };
    const changes = { [own]: [demand], [`${task}.Services`]: [{}] };
    expect(impliedBy(changes)).toEqual(['${attr.roster.service_discovery} is_set ']);
  });

  test('new signals are required with the earlier ones', () => {
    const before = canonicalizeJob(webJobWith({ [`${task}.KillSignal`]: 'SIGINT' }));
    const [group] = before.TaskGroups;
    const TaskGroups = [{ ...group, Tasks: [{ ...group!.Tasks[0], KillSignal: 'SIGUSR1' }] }];
    const after = canonicalizeJob({ ...before, TaskGroups });
    expect(after.TaskGroups[0]!.Constraints?.map(({ RTarget }) => RTarget)).toEqual([
      'SIGINT',
      'SIGUSR1',
    ]);
    expect(canonicalizeJob(after)).toEqual(after);
  });
});
