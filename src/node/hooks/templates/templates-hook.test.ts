/** Templates before the runs of a task: when they are rendered, and with which values. */
import { statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { testPolicy } from '../../records.test-helper.ts';
import {
  again,
  blue,
  colour,
  data,
  driver,
  green,
  messages,
  pathOf,
  read,
  run,
  runner,
  running,
  settle,
  state,
  until,
  world,
} from './templates.test-helper.ts';

describe('before a run', () => {
  test('all files are there, with their permissions, and variables are set', async () => {
    await run(
      [
        { EmbeddedTmpl: 'job {{env "ROSTER_JOB_ID"}}', Perms: '640', DestPath: 'local/a/b.conf' },
        {
          EmbeddedTmpl: 'export COLOUR="{{env "BASE"}} blue" # so\n\n# no\nSIZE=3\n',
          DestPath: 'secrets/env',
          Envvars: true,
        },
      ],
      { Env: { BASE: 'sky', SIZE: '1' } },
    );
    await running();
    expect(read('local/a/b.conf')).toBe('job web');
    expect(statSync(pathOf('local/a/b.conf')).mode & 0o7777).toBe(0o640);
    expect(driver.started[0]!.variables).toMatchObject({ COLOUR: 'sky blue', SIZE: '3' });
  });

  test('a template may be a file of the task, with other delimiters', async () => {
    await run([{ SourcePath: 'local/a.tpl', LeftDelim: '[[', RightDelim: ']]' }]);
    await until(() => expect(messages().join()).toContain('there is no template "local/a.tpl"'));
    writeFileSync(pathOf('local/a.tpl'), '{{ [[ print 1 ]] }}');
    await until(() => expect(state().State).toBe('running'), 5000);
    expect(read()).toBe('{{ 1 }}');
  });

  test('the run waits for unknown values, reports them, and starts with them', async () => {
    await run([{ EmbeddedTmpl: `${colour} {{range service "db"}}{{.Port}}{{end}}` }]);
    await until(() => expect(data.watched).toHaveLength(2));
    data.know('variable a', null);
    await settle();
    expect(driver.started).toEqual([]);
    await world.advance(3000);
    await until(() =>
      expect(messages().at(-1)).toBe('Task hook message: Template: Missing: var a, service db'),
    );
    data.know('variable a', blue);
    data.know('service db', []);
    await running();
    expect(read()).toBe('blue ');
    expect(messages().at(-1)).toMatch(/^Started/);
  });

  test('missing values are reported less and less often', async () => {
    await run([{ EmbeddedTmpl: colour }]);
    await until(() => expect(data.watched).toHaveLength(1));
    for (let minute = 0; minute < 60; minute++) {
      await world.advance(60_000);
      await settle();
    }
    // 3 s, 9 s, 21 s, … and from then on every ten minutes.
    const told = messages().filter((one) => one.includes('Missing'));
    expect(told.length).toBeGreaterThan(5);
    expect(told.length).toBeLessThanOrEqual(10);
  });

  test('a template that cannot be rendered does not keep its task from being ended', async () => {
    await run([{ EmbeddedTmpl: colour }]);
    await until(() => expect(data.watched).toHaveLength(1));
    await runner.stop();
    expect(state()).toMatchObject({ State: 'dead', Failed: false });
    expect(driver.started).toEqual([]);
  });

  test.each([
    ['is none', '{{ if }}', /hook failed: template: local\/app.conf:1:7: "if" needs a value$/m],
    ['asks for a missing variable', '{{mustEnv "NO"}}', /the task has no variable "NO"/],
    ['goes on for ever', '{{range 9000000000000}}{{end}}', /more than 1000000 steps/],
  ])('a template that %s fails the task for good', async (_name, EmbeddedTmpl, sentence) => {
    await run([{ EmbeddedTmpl }]);
    await until(() => expect(state()).toMatchObject({ State: 'dead', Failed: true }));
    expect(messages().join('\n')).toMatch(sentence);
  });

  test.each([
    ['lacks a key', { ErrMissingKey: true, EmbeddedTmpl: '{{(var "a").size}}' }, /no key "size"/],
    ['is no environment', { Envvars: true, EmbeddedTmpl: colour }, /line 1 does not have the form/],
  ])('data that %s is tried again by the restart policy', async (_name, fields, sentence) => {
    data.know('variable a', blue);
    await run([fields]);
    await until(() => expect(messages().at(-1)).toMatch(/^Restarting/));
    expect(messages().join()).toMatch(sentence);
  });

  test('unreadable data fails the run, and is fetched again', async () => {
    await run([{ EmbeddedTmpl: colour }]);
    await until(() => expect(data.watched).toHaveLength(1));
    data.say('variable a', { kind: 'failed', reason: 'connection refused' });
    await until(() => expect(messages().at(-1)).toMatch(/^Restarting/));
    expect(messages().at(-2)).toContain('var a cannot be read: connection refused');
    data.know('variable a', blue);
    await until(() => expect(state().State).toBe('running'), 5000);
  });

  test.each(['../x', 'local/../../x'])('the destination %s is refused', async (DestPath) => {
    await run([{ EmbeddedTmpl: 'x', DestPath }]);
    await until(() => expect(messages().join()).toContain('is no file below the directory'));
  });
});

describe('the next agent', () => {
  test('leaves the task alone when its files are up to date', async () => {
    data.know('variable a', blue);
    await run([{ EmbeddedTmpl: colour }]);
    await running();
    await again();
    expect(driver.started).toHaveLength(1);
    data.know('variable a', green);
    await until(() => expect(driver.started).toHaveLength(2));
    expect(read()).toBe('green');
  });

  test('reacts to changes that happened meanwhile', async () => {
    data.know('variable a', blue);
    await run([{ EmbeddedTmpl: colour }]);
    await running();
    await runner.leave();
    data.know('variable a', green);
    await again();
    await until(() => expect(driver.started).toHaveLength(2));
    expect(read()).toBe('green');
  });

  test('starts the next run as soon as its values are known, although it waited before', async () => {
    data.know('variable a', blue);
    const RestartPolicy = { ...testPolicy, Delay: 0 };
    const Config = { run_for: '1s', exit_code: 1 };
    await run([{ EmbeddedTmpl: colour }], { Config, RestartPolicy });
    await running();
    data.say('variable a', { kind: 'pending' });
    await again();
    await until(() => expect(state().State).toBe('pending'), 100);
    await settle();
    // The resumption, the preparation of the next run, and the resumption again.
    const missing = () => messages().filter((one) => one.includes('Missing')).length;
    await until(() => expect(missing()).toBe(3), 100);
    data.know('variable a', green);
    await until(() => expect(driver.started).toHaveLength(2));
    expect(read()).toBe('green');
  });
});
