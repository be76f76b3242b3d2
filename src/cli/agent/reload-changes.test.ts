import { expect, test } from 'vitest';
import { changesOf, isReloadable } from './reload-changes.ts';
import { type AgentSettings, type SettingName, settings } from './settings.ts';

const tls = { 'tls.cert_file': 'a.pem', 'tls.key_file': 'a.key' };

test.each<[string, AgentSettings, AgentSettings, readonly string[], readonly string[]]>([
  ['nothing', { region: 'eu', run: ['a'] }, { region: 'eu', run: ['a'] }, [], []],
  [
    'what an agent takes, and what it does not',
    { 'node.meta': { rack: 'r1' }, region: 'eu', log_level: 'info' },
    { 'node.meta': { rack: 'r2' }, region: 'us', 'drivers.allow': ['exec'] },
    ['node.meta', 'drivers.allow', 'log_level'],
    ['region'],
  ],
  ['other certificates', tls, { ...tls, 'tls.key_file': 'b.key' }, ['tls.key_file'], []],
  ['TLS on an open port', {}, tls, [], ['tls.cert_file', 'tls.key_file']],
  ['an end of TLS', tls, {}, [], ['tls.cert_file', 'tls.key_file']],
  [
    'the check of clients',
    { ...tls, 'tls.ca_file': 'ca.pem' },
    { ...tls, 'tls.ca_file': 'other.pem', 'tls.verify_client': true },
    ['tls.ca_file'],
    ['tls.verify_client'],
  ],
])('%s', (_, running, read, changed, needRestart) => {
  const found = changesOf(running, read);
  expect(found).toMatchObject({ changed, needRestart });
  // The settings that need a restart are told again, until the files have the old values.
  expect(changesOf(found.settings, read)).toMatchObject({ changed: [], needRestart });
  const back = changesOf(found.settings, running);
  expect(back).toMatchObject({ changed, needRestart: [] });
});

const every = Object.keys(settings) as SettingName[];

test.each(every)('%s is taken at a reload, or needs a restart', (name) => {
  const [running, read] = [{ [name]: 'before' }, { [name]: 'after' }];
  const found = changesOf(running, read);
  const lists = isReloadable(name) ? [[name], []] : [[], [name]];
  expect([found.changed, found.needRestart]).toEqual(lists);
  expect(found.settings).toEqual(isReloadable(name) ? read : running);
});
