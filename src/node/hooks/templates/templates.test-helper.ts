/** A task with templates, with its runner in simulated time. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { SimulatedWorld } from '../../../base/ports-simulated.ts';
import { type Dependency, dependencyKey } from '../../../language/template/run-context.ts';
import type { TemplateValue } from '../../../language/template/value.ts';
import { complete } from '../../../model/complete.ts';
import { NodeRegistrationSchema } from '../../../model/node/node.ts';
import type { Input } from '../../../model/schema.ts';
import type { Template } from '../../../model/task/files.ts';
import type { Task } from '../../../model/task/task.ts';
import { AllocationRunner } from '../../allocation-runner/allocation-runner.ts';
import { readSavedAllocations } from '../../allocation-runner/saved-allocation.ts';
import type { DriverCommand, DriverExec } from '../../drivers/driver.ts';
import { MockDriver } from '../../drivers/mock.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { testAllocation, testJob } from '../../records.test-helper.ts';
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
export let world: SimulatedWorld;
export let driver: ExecDriver;
export let data: SaidData;
export let runner: AllocationRunner;

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

export async function run(
  templates: readonly Input<Template>[],
  task: Input<Task> = {},
): Promise<void> {
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

export const until = (check: () => void, stepMs = 0) =>
  eventually(async () => {
    await world.advance(stepMs);
    check();
  }, 4000);

export const state = () => runner.report.TaskStates.app!;
export const messages = () =>
  state().Events!.map(({ Type, DisplayMessage }) => `${Type}: ${DisplayMessage}`);
export const pathOf = (file: string) => join(runner.directories.root, 'app', file);
export const read = (file = 'local/app.conf') => readFileSync(pathOf(file), 'utf8');
export const running = () => until(() => expect(state().State).toBe('running'));
/** Long enough for all pending work, and shorter than every wait. */
export const settle = async () => {
  for (let round = 0; round < 20; round++) {
    await world.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

export const colour = '{{(var "a").colour}}';
export const blue = new Map([['colour', 'blue']]);
export const green = new Map([['colour', 'green']]);

/** The next agent takes the allocation up. */
export async function again(): Promise<void> {
  await runner.leave();
  const { saved } = await readSavedAllocations(dataDirectory);
  const { allocation, job } = saved[0]!;
  runner = new AllocationRunner(surroundings(), allocation, job, saved[0]);
  await runner.restore();
  await until(() => expect(data.watched).toEqual(['variable a']));
  await settle();
}
