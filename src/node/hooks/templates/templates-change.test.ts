/** Templates while a task runs: how it reacts to changes. */
import { statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../model/limits.ts';
import type { Input } from '../../../model/schema.ts';
import type { Template } from '../../../model/task/files.ts';
import type { Task } from '../../../model/task/task.ts';
import {
  blue,
  colour,
  data,
  driver,
  green,
  messages,
  pathOf,
  read,
  run,
  running,
  settle,
  state,
  until,
  world,
} from './templates.test-helper.ts';

describe('while it runs', () => {
  const changes = async (templates: readonly Input<Template>[], task: Input<Task> = {}) => {
    data.know('variable a', blue);
    data.know('variable b', blue);
    await run(templates, task);
    await running();
  };

  test('a change restarts the task once, instead of all other reactions', async () => {
    await changes([
      { EmbeddedTmpl: colour },
      { EmbeddedTmpl: '{{(var "b").colour}}', DestPath: 'local/b' },
      { EmbeddedTmpl: colour, DestPath: 'local/c', ChangeMode: 'signal', ChangeSignal: 'SIGUSR1' },
    ]);
    data.know('variable a', green);
    data.know('variable b', green);
    await until(() => expect(driver.started).toHaveLength(2));
    await settle();
    expect(driver.started).toHaveLength(2);
    expect(driver.signals).toEqual(['app SIGINT']);
    expect([read(), read('local/b'), read('local/c')]).toEqual(['green', 'green', 'green']);
    expect(messages().join()).toContain('Restart Signaled: Template with change_mode restart');
    expect(messages().join()).not.toContain('Restarting:');
  });

  test('a signal is sent once for all', async () => {
    const signal = { ChangeMode: 'signal', ChangeSignal: 'SIGUSR1' } as const;
    await changes([
      { EmbeddedTmpl: colour, ...signal },
      { EmbeddedTmpl: `${colour}!`, DestPath: 'local/b', ...signal },
    ]);
    data.know('variable a', green);
    await until(() => expect(driver.signals).toEqual(['app SIGUSR1']));
    await settle();
    expect(driver.signals).toEqual(['app SIGUSR1']);
    expect(read('local/b')).toBe('green!');
  });

  test('noop changes only the file; the next run gets new variables', async () => {
    const template = { Envvars: true, EmbeddedTmpl: `COLOUR=${colour}`, ChangeMode: 'noop' };
    await changes([template]);
    data.know('variable a', green);
    await until(() => expect(read()).toBe('COLOUR=green'));
    await settle();
    expect(driver.started.map(({ variables }) => variables.COLOUR)).toEqual(['blue']);
  });

  test('an unchanged text, or failing data, changes nothing', async () => {
    await changes([{ EmbeddedTmpl: colour }]);
    const before = statSync(pathOf('local/app.conf')).ino;
    data.know('variable a', new Map([...blue, ['size', '1']]));
    await settle();
    expect(statSync(pathOf('local/app.conf')).ino).toBe(before);
    data.know('variable a', null);
    await until(() => expect(messages().at(-1)).toContain('Template: Missing: var a'));
    expect(read()).toBe('blue');
    expect(driver.started).toHaveLength(1);
  });

  test('unusable data is reported, and the file stays', async () => {
    await changes([{ EmbeddedTmpl: colour, ErrMissingKey: true }]);
    data.know('variable a', new Map());
    await until(() => expect(messages().at(-1)).toMatch(/Task hook failed.*no key "colour"/s));
    expect(read()).toBe('blue');
    expect(state().State).toBe('running');
    data.know('variable a', green);
    await until(() => expect(read()).toBe('green'));
  });

  test('a template with once is rendered once', async () => {
    await changes([{ EmbeddedTmpl: colour, Once: true }]);
    expect(data.watched).toEqual([]);
  });

  test('further changes are waited for, within a bound', async () => {
    await changes([{ EmbeddedTmpl: colour, ChangeMode: 'noop', Wait: { Min: 5e9, Max: 12e9 } }]);
    const at = async (ms: number, name: string) => {
      data.know('variable a', new Map([['colour', name]]));
      await world.advance(ms);
      await settle();
    };
    await at(4000, 'one');
    await at(4000, 'two');
    expect(read()).toBe('blue');
    await at(4000, 'three');
    await until(() => expect(read()).toBe('three'));
    await at(4999, 'four');
    expect(read()).toBe('three');
    await world.advance(1);
    await until(() => expect(read()).toBe('four'));
  });

  test('the reaction waits for the splay', async () => {
    await changes([{ EmbeddedTmpl: colour, ChangeMode: 'signal', Splay: 60e9 }]);
    data.know('variable a', green);
    await until(() => expect(read()).toBe('green'));
    expect(driver.signals).toEqual([]);
    await until(() => expect(driver.signals).toEqual(['app SIGHUP']), 1000);
  });

  test('a script runs in the task; at the first rendering only if asked to', async () => {
    const ChangeScript = { Command: '/bin/reload', Args: ['now'] };
    await changes([
      { EmbeddedTmpl: colour, ChangeMode: 'script', ChangeScript },
      {
        EmbeddedTmpl: 'x',
        DestPath: 'local/x',
        ChangeMode: 'script',
        ChangeScript: { Command: '/bin/first', RunOnFirstRender: true },
      },
    ]);
    await until(() => expect(driver.commands).toEqual(['app#1 /bin/first']));
    data.know('variable a', green);
    await until(() =>
      expect(driver.commands).toEqual(['app#1 /bin/first', 'app#1 /bin/reload now']),
    );
    await until(() => expect(messages().at(-1)).toContain('/bin/reload succeeded'));
  });

  test.each([
    ['fails', 3, false, 'running', 'it ended with code 3: no such thing'],
    ['fails and has to work', 3, true, 'dead', 'it ended with code 3'],
    ['hangs', undefined, false, 'running', 'it did not end within 5000 ms'],
  ])('a script that %s is told', async (_name, exitCode, FailOnError, then, sentence) => {
    const ChangeScript = { Command: '/bin/reload', FailOnError };
    await changes([{ EmbeddedTmpl: colour, ChangeMode: 'script', ChangeScript }]);
    driver.exitCode = exitCode;
    data.know('variable a', green);
    await until(() => expect(messages().join()).toContain(sentence), 1000);
    await until(() => expect(state().State).toBe(then), 1000);
  });

  test('a change of a read file is found', async () => {
    await run([{ EmbeddedTmpl: '[{{file "local/name"}}]' }]);
    await until(() => expect(messages().join()).toContain('Missing: file local/name'), 1000);
    writeFileSync(pathOf('local/name'), 'one');
    await until(() => expect(state().State).toBe('running'), 1000);
    expect(read()).toBe('[one]');
    writeFileSync(pathOf('local/name'), 'two');
    await until(() => expect(read()).toBe('[two]'), limits.template.filePollMs);
    await until(() => expect(driver.started).toHaveLength(2));
  });

  test.each(['/etc/passwd', '../../../../../../etc/passwd'])(
    'the file %s is not read',
    async (path) => {
      await run([{ EmbeddedTmpl: `{{file "${path}"}}` }]);
      await until(() => expect(messages().join()).toMatch(/Missing|not below/), 1000);
      expect(driver.started).toEqual([]);
    },
  );
});
