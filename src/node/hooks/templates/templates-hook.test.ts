/** Templates around the runs of a task: when they are rendered, and how the task reacts. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { type Dependency, dependencyKey } from '../../../language/template/run-context.ts';
import type { TemplateValue } from '../../../language/template/value.ts';
import { complete } from '../../../model/complete.ts';
import { limits } from '../../../model/limits.ts';
import { NodeRegistrationSchema } from '../../../model/node/node.ts';
import type { Input } from '../../../model/schema.ts';
import type { Template } from '../../../model/task/files.ts';
import type { Task } from '../../../model/task/task.ts';
import { AllocationRunner } from '../../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../../allocation-runner/saved-allocation.ts';
import type { DriverCommand, DriverExec } from '../../drivers/driver.ts';
import { MockDriver } from '../../drivers/mock.test-helper.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob, testPolicy } from '../../records.test-helper.ts';
import type { DataState, TemplateData } from './template-data.ts';
import { templatesHook } from './templates-hook.ts';

/** Data set by the test. */
class SaidData implements TemplateData {
  readonly #states = new Map<string, DataState>();
  readonly #listeners = new Map<string, Set<() => void>>();

  watch(dependency: Dependency, _reader: unknown, onChange: () => void) {
    const key = dependencyKey(dependency);
    const listener = () => onChange();
    const all = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, all.add(listener));
    const stateNow = () => this.#states.get(key) ?? { kind: 'pending' as const };
    return {
      get state() {
        return stateNow();
      },
      close: () => void all.delete(listener),
    };
  }

  say(key: string, state: DataState): void {
    this.#states.set(key, state);
    for (const listener of this.#listeners.get(key) ?? []) listener();
  }

  know(key: string, value: TemplateValue): void {
    this.say(key, { kind: 'known', value });
  }

  get watched(): readonly string[] {
    return [...this.#listeners].filter(([, all]) => all.size > 0).map(([key]) => key);
  }
}

class ExecDriver extends MockDriver {
  readonly commands: string[] = [];
  exitCode: number | undefined = 0;

  override async exec(runId: string, { command }: DriverCommand): Promise<DriverExec> {
    this.commands.push(`${runId.split('/')[1]} ${command.join(' ')}`);
    const { exitCode } = this;
    const never = new Promise<never>(() => {});
    return {
      output: (async function* () {
        yield { stream: 'stderr' as const, data: Buffer.from('no such thing') };
      })(),
      exited: exitCode === undefined ? never : Promise.resolve({ exitCode }),
      write: async () => {},
      closeInput: () => {},
      resize: () => {},
      close: () => {},
    };
  }
}

let dataDirectory: string;
let world: SimulatedWorld;
let driver: ExecDriver;
let data: SaidData;
let runner: AllocationRunner;

beforeEach(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'roster-templates-'));
  world = new SimulatedWorld(7);
  driver = new ExecDriver(world);
  data = new SaidData();
  await readSavedAllocations(dataDirectory);
});

afterEach(async () => {
  await runner.leave();
  expect(data.watched, 'nothing is watched once its task is gone').toEqual([]);
  rmSync(dataDirectory, { recursive: true });
});

const surroundings = () => ({
  world,
  dataDirectory,
  region: 'global',
  hostEnvironment: {},
  taskHooks: [templatesHook({ data })],
  allocationHooks: [],
  drivers: new Map([['mock', driver]]),
  node: () => complete(NodeRegistrationSchema, { ID: 'n1', Name: 'alpha' }),
  changed: () => {},
  onNotice: (sentence: string) => expect.fail(sentence),
});

async function run(templates: readonly Input<Template>[], task: Input<Task> = {}): Promise<void> {
  const Templates = templates.map((one) => ({
    DestPath: 'local/app.conf',
    Splay: 0,
    Wait: { Min: 0, Max: 0 },
    ...one,
  }));
  const job = testJob([{ Name: 'app', ...task, Templates }]);
  runner = new AllocationRunner(surroundings(), testAllocation(), job);
  await runner.start();
}

const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  }, 4000);

const state = () => runner.report.TaskStates.app!;
const messages = () =>
  state().Events!.map(({ Type, DisplayMessage }) => `${Type}: ${DisplayMessage}`);
const pathOf = (file: string) => join(runner.directories.root, 'app', file);
const read = (file = 'local/app.conf') => readFileSync(pathOf(file), 'utf8');
const running = () => until(() => expect(state().State).toBe('running'));
/** Long enough for all pending work, and shorter than every wait. */
const settle = async () => {
  for (let round = 0; round < 20; round++) {
    await world.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const colour = '{{(var "a").colour}}';
const blue = new Map([['colour', 'blue']]);
const green = new Map([['colour', 'green']]);

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
    ['asks for what is not there', '{{mustEnv "NO"}}', /the task has no variable "NO"/],
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

describe('the next agent', () => {
  const again = async () => {
    await runner.leave();
    const { saved } = await readSavedAllocations(dataDirectory);
    const { allocation, job } = saved[0]!;
    runner = new AllocationRunner(surroundings(), allocation, job, saved[0]);
    await runner.restore();
    await until(() => expect(data.watched).toEqual(['variable a']));
    await settle();
  };

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
    // The agent that found the task running, the preparation of the next run, and then the first
    // again.
    const missing = () => messages().filter((one) => one.includes('Missing')).length;
    await until(() => expect(missing()).toBe(3), 100);
    data.know('variable a', green);
    await until(() => expect(driver.started).toHaveLength(2));
    expect(read()).toBe('green');
  });
});
