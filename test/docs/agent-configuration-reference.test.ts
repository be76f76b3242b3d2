/** The reference of the agent's configuration is what the code goes by, and the example that it shows is valid. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readConfiguration } from '../../src/cli/agent/configuration.ts';
import { flags } from '../../src/cli/agent/flags.ts';
import { agentOptions } from '../../src/cli/agent/options.ts';
import { settingFault, settingFaults, settings } from '../../src/cli/agent/settings.ts';
import { settingsOfVariables, variableOf } from '../../src/cli/agent/variables.ts';
import { formatHcl } from '../../src/language/format/format.ts';
import {
  agentConfigurationReference,
  example,
  page,
} from '../../tools/agent-configuration-reference.ts';
import { sections } from '../../tools/agent-configuration-table.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string) => readFileSync(join(checkout, path), 'utf8');
const rows = sections.flatMap((section) => section.rows);

test('the page is current: npm run docs writes it', () => {
  expect(textOf(page)).toBe(agentConfigurationReference());
});

test('it has every setting once', () => {
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(settings).sort());
});

const defaults = rows.flatMap(([name, about]) =>
  about.default === undefined ? [] : [[name, about.default] as const],
);

test.each(defaults)('the default of %s is %o', (name, value) => {
  expect(settingFault(name, value, name)).toEqual([]);
  expect(agentOptions({ [name]: value }, [])).toEqual(agentOptions({}, []));
});

test('every flag has a variable of its own, which the agent reads', () => {
  const names = flags.map(({ name }) => variableOf(name));
  expect(new Set(names).size).toBe(flags.length);
  for (const { name, setting } of flags) {
    const { settings: given, paths, faults } = settingsOfVariables({ [variableOf(name)]: 'x' });
    expect(faults).toEqual([]);
    expect(setting === undefined ? paths.length : Object.keys(given)).toEqual(
      setting === undefined ? 1 : [setting],
    );
  }
});

test('its example is valid, and in its canonical form', async () => {
  const names = readdirSync(join(checkout, 'examples/agent'));
  expect(names.map((name) => `examples/agent/${name}`)).toEqual([example]);
  const found = await readConfiguration(
    { readFile: (path) => readFile(path, 'utf8'), listDirectory: async () => undefined },
    [join(checkout, example)],
  );
  expect(found.faults).toEqual([]);
  expect(settingFaults(found.settings, (name) => name, { checked: new Set() })).toEqual([]);
  expect(agentOptions(found.settings, [])).toMatchObject({
    dataDirectory: '/var/lib/roster',
    node: { meta: { rack: 'r1' }, hostVolumes: { data: { Path: '/srv/data', ReadOnly: true } } },
    snapshots: { keep: 48 },
  });
  expect(formatHcl(textOf(example))).toBe(textOf(example));
});
