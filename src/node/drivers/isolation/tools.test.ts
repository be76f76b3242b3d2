/** An absent driver gives the reason in a sentence that an operator can act on. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allDefences } from '../../defences.ts';
import { noCgroups } from '../../supervisor/cgroups/layout.ts';
import { isolationFingerprint } from '../exec.ts';
import { capabilitiesIn, grantCapabilities } from './capabilities.ts';
import { findTools, type ToolsInput } from './tools.ts';
import { defaultHostView, hostPath } from './view.ts';

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'roster-path-'));
});
afterEach(() => rmSync(path, { recursive: true }));

const system = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** A directory with only these programs. */
function machine(programs: Readonly<Record<string, string>>): Partial<ToolsInput> {
  for (const [name, text] of Object.entries(programs)) {
    const file = join(path, name);
    if (text.startsWith('/')) symlinkSync(text, file);
    else {
      writeFileSync(file, `#!/bin/sh\n${text}\n`);
      chmodSync(file, 0o755);
    }
  }
  return { path };
}

const found = (input: Partial<ToolsInput>) =>
  findTools({
    settings: {},
    cgroups: noCgroups,
    path: system.join(':'),
    isRoot: true,
    defences: allDefences,
    ...input,
  });

const failing = 'echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1';

test.each<[string, () => Partial<ToolsInput>, RegExp]>([
  ['without bubblewrap', () => machine({}), /^bubblewrap is not installed: install the package/],
  [
    'without setpriv',
    () => machine({ bwrap: '/usr/bin/bwrap' }),
    /^setpriv is not installed: install the package util-linux$/,
  ],
  [
    'where tasks would not see it',
    () => ({ settings: { view: { '/bin': '/programs' } } }),
    /^tasks would not see \/usr\/bin\/setpriv: make it and its libraries visible/,
  ],
  [
    'where root may not make namespaces',
    () => ({ path: `${machine({ bwrap: failing }).path}:/usr/bin` }),
    /^a sandbox cannot be made here \(bwrap: Creating .* not permitted\): the agent needs the rights/,
  ],
  [
    'where users may not make namespaces',
    () => ({ ...machine({ bwrap: failing }), isRoot: false }),
    /^a sandbox cannot be made here \(.*\): run the agent as root, or let users make namespaces/,
  ],
])('a machine %s has no exec', async (_name, input, reason) => {
  const { detected, description } = isolationFingerprint(await found(input()));
  expect(detected).toBe(false);
  expect(description).toMatch(reason);
});

test('a machine without control groups has the driver, and says what is missing', async () => {
  const { detected, healthy, description, attributes } = isolationFingerprint(await found({}));
  expect([detected, healthy]).toEqual([true, true]);
  expect(description).toMatch(
    /^Healthy, but without limits of cpu, memory, pids: the control groups/,
  );
  const bubblewrap = expect.stringMatching(/^\d+\.\d+/);
  const allows = { allow_root: 'false', allow_host_pid: 'false', allow_host_ipc: 'false' };
  expect(attributes).toEqual({
    bubblewrap,
    cgroups: 'none',
    limits: 'none',
    seccomp: 'true',
    ...allows,
    allow_capabilities: 'net_bind_service',
  });
});

test('a machine with all of them is healthy', async () => {
  const names = ['cpu', 'cpuset', 'memory', 'pids'] as const;
  const separate = new Map(names.map((name) => [name, `/sys/fs/cgroup/${name}`] as const));
  const fingerprint = isolationFingerprint(await found({ cgroups: { ...noCgroups, separate } }));
  expect(fingerprint).toMatchObject({
    description: 'Healthy',
    attributes: { cgroups: 'v1', limits: 'cpu,cpuset,memory,pids' },
  });
});

test.each([
  ['nothing said', {}, ['kill', 'chown'], []],
  ['one more', { add: ['CAP_NET_RAW'] }, ['kill', 'net_raw', 'chown'], ['net_raw']],
  ['all that is allowed', { add: ['all'] }, ['kill', 'net_raw'], ['chown', 'net_raw']],
  ['one less', { drop: ['KILL'] }, ['chown'], []],
])('capabilities with %s', (_name, wish, some, ambient) => {
  const node = { allowed: ['chown', 'net_raw'], isRoot: true };
  const granted = grantCapabilities({ add: [], drop: [], ...wish }, node);
  expect(granted.bounding).toEqual(expect.arrayContaining(some));
  expect(granted.ambient).toEqual(ambient);
  if (!some.includes('kill')) expect(granted.bounding).not.toContain('kill');
});

test('no user can get a capability that was not asked for', () => {
  const node = { allowed: ['chown', 'net_raw'], isRoot: false };
  expect(grantCapabilities({ add: ['chown'], drop: [] }, node)).toEqual({
    bounding: ['chown'],
    ambient: ['chown'],
  });
});

test('capabilities as the kernel writes them', () => {
  expect(capabilitiesIn('0000000000000421')).toEqual(['chown', 'kill', 'net_bind_service']);
});

const directories = {
  root: '/d/app',
  shared: '/d/alloc',
  logs: '/d/alloc/logs',
  local: '/d/app/local',
  secrets: '/d/app/secrets',
};

test.each([
  ['/usr/bin/x', '/usr/bin/x'],
  ['/local/x', '/d/app/local/x'],
  ['/alloc/data', '/d/alloc/data'],
  ['/tmp', '/d/app/tmp'],
  ['/locally', undefined],
  ['/etc/passwd', '/etc/passwd'],
  ['/etc/shadow', undefined],
  ['/root', undefined],
])('the task’s %s is the host’s %s', (inside, host) => {
  expect(hostPath(defaultHostView, directories, inside)).toBe(host);
});

test('the deepest mount is the visible one', () => {
  const view = { '/': '/', '/a': '/b', '/c': '/b/d' };
  expect(hostPath(view, undefined, '/b/d/e')).toBe('/c/e');
  expect(hostPath(view, undefined, '/b/x')).toBe('/a/x');
  expect(hostPath(view, undefined, '/z')).toBe('/z');
});
