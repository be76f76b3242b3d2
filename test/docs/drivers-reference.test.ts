/** The reference of drivers against the drivers: nothing is missing, nothing is made up. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Driver } from '../../src/node/drivers/driver.ts';
import { rootCapabilities } from '../../src/node/drivers/isolation/capabilities.ts';
import { defaultHostView } from '../../src/node/drivers/isolation/view.ts';
import { MockDriver } from '../../src/node/drivers/mock.ts';
import { processDrivers } from '../../src/node/drivers/processes.ts';
import type { SupervisorClient } from '../../src/node/supervisor/client.ts';
import { codesIn, tableOf } from './tables.ts';

const page = readFileSync(new URL('../../docs/reference/drivers.md', import.meta.url), 'utf8');
const section = (name: string): string =>
  page.split(/^## /m).find((text) => text.startsWith(`\`${name}\``))!;

const drivers: readonly Driver[] = [
  ...processDrivers({} as SupervisorClient, {}, ''),
  new MockDriver(new SimulatedWorld(1)),
];

/** The options that a driver names in its refusal of an unknown option. */
const optionsOf = (driver: Driver): string[] =>
  driver
    .validate({ 'no such option': 1 })
    .flatMap(({ message }) => /known are (.*)$/.exec(message)?.[1]?.split(', ') ?? [])
    .sort();

test('it has the drivers that there are', () => {
  const rows = tableOf(page, ['driver', 'runs', 'isolation']);
  const named = rows.flatMap((row) => codesIn(row.driver!));
  expect(named.sort()).toEqual(drivers.map(({ name }) => name).sort());
});

test.each(drivers.map((driver) => [driver.name, driver] as const))(
  '%s has these options',
  (name, driver) => {
    const text = section(name);
    const inTable = tableOf(text, ['option', 'meaning']).flatMap((row) => codesIn(row.option!));
    const asExec = /with its options ([^.]*)\./s.exec(text)?.[1] ?? '';
    expect([...inTable, ...codesIn(asExec)].sort()).toEqual(optionsOf(driver));
  },
);

test('capabilities and places are those of isolated tasks', () => {
  const text = section('exec');
  const paragraph = (name: string) => text.split(`**${name}.**`)[1]!.split('\n\n')[0]!;
  expect(codesIn(paragraph('Capabilities'))).toEqual(expect.arrayContaining([...rootCapabilities]));
  const hidden = ['/root', '/home', '/var', '/run', '/opt'];
  expect(codesIn(paragraph('Files'))).toEqual(expect.arrayContaining(hidden));
  expect(Object.keys(defaultHostView).filter((path) => hidden.includes(path))).toEqual([]);
});
