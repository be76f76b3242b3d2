import { expect, test } from 'vitest';
import { type AgentSettings, settings } from './settings.ts';
import { shownSettings } from './shown-settings.ts';

test('settings are shown as in a configuration file', () => {
  const given = {
    data_dir: '/var/lib/roster',
    'http.allowed_hosts': ['roster.example.com'],
    http: '127.0.0.1:4720',
    'node.meta': { rack: 'r1' },
    'node.datacenter': 'dc1',
    'acl.enabled': true,
  };
  expect(shownSettings(given)).toEqual({
    data_dir: '/var/lib/roster',
    http: { address: '127.0.0.1:4720', allowed_hosts: ['roster.example.com'] },
    node: { meta: { rack: 'r1' }, datacenter: 'dc1' },
    acl: { enabled: true },
  });
});

test('secrets are not shown, nor the password in an address', () => {
  const given: AgentSettings = {
    root_token: 'planted-token',
    'keyring.root_key': 'planted-key',
    'keyring.kms.url': 'https://me:planted@kms.example:8200/v1',
    'etcd.endpoints': ['https://me:planted@10.0.0.7:2379', '10.0.0.8:2379'],
  };
  const text = JSON.stringify(shownSettings(given));
  expect(text).not.toContain('planted');
  expect(shownSettings(given)).toMatchObject({
    root_token: '[secret]',
    keyring: { root_key: '[secret]', kms: { url: 'https://[secret]@kms.example:8200/v1' } },
    etcd: { endpoints: ['https://[secret]@10.0.0.7:2379', '10.0.0.8:2379'] },
  });
});

test('a setting that sounds like a secret is a secret, or names a file', () => {
  const sounding = Object.keys(settings).filter((name) =>
    /token|secret|password|root_key|_key$/.test(name),
  );
  const shown = sounding.filter(
    (name) => !JSON.stringify(shownSettings({ [name]: 'planted' })).includes('[secret]'),
  );
  expect(sounding).toContain('root_token');
  expect(shown.filter((name) => !name.endsWith('_file') && name !== 'client_key')).toEqual([]);
});
