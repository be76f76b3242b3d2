/** Java programs in sandboxes, with the machine's own runtime. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../eventually.test-helper.ts';
import { driverNamed, runTask } from './driver-runs.test-helper.ts';
import { javaArguments, javaAttributes } from './java.ts';

const source = `
  public class Hello {
    public static void main(String[] words) throws Exception {
      System.out.println(String.join(",", words) + " " + System.getProperty("tone")
        + " " + new java.io.File("/").list().length
        + " " + (Runtime.getRuntime().maxMemory() >> 20) + " " + System.getProperty("user.name"));
      if (words.length == 0) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
        System.out.println("ready");
        Thread.sleep(600_000);
      }
    }
  }`;

const resources = { cpuMhz: 500, cores: [], memoryMb: 200, memoryMaxMb: 0 };
let built: string;

beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'roster-java-'));
  mkdirSync(join(built, 'classes'));
  writeFileSync(join(built, 'Hello.java'), source);
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: built });
  run('javac', '-d', 'classes', 'Hello.java');
  run('jar', 'cfe', 'hello.jar', 'Hello', '-C', 'classes', 'Hello.class');
});
afterAll(() => rmSync(built, { recursive: true }));

/** A task with the built classes in `local`. */
const run = (config: Record<string, unknown>) =>
  runTask(driverNamed('java'), config, {
    resources,
    prepare: ({ local }) => cpSync(built, local, { recursive: true }),
  });

test('the runtime is found and reported', async () => {
  const { detected, attributes } = await driverNamed('java').fingerprint();
  expect(detected).toBe(true);
  expect(attributes).toMatchObject({
    version: expect.stringMatching(/^\d+(\.\d+)*/),
    runtime: expect.stringMatching(/Runtime Environment/),
    vm: expect.stringMatching(/VM/),
  });
});

describe('a program', () => {
  test.each([
    ['in an archive', { jar_path: 'local/hello.jar' }],
    ['in an archive, from elsewhere', { jar_path: 'local/hello.jar', work_dir: '/tmp' }],
    ['as a class', { class: 'Hello', class_path: 'local/classes' }],
    ['as a class among others', { class: 'Hello', class_path: '/nowhere:local/hello.jar' }],
  ])('%s runs isolated, with its options', async (_name, config) => {
    const options = { jvm_options: ['-Dtone=warm', '-Xmx64m', '-Xshare:auto'], args: ['a', 'b'] };
    const task = await run({ ...config, ...options });
    expect(await task.exited).toMatchObject({ exitCode: 0, signal: 0 });
    const [words, tone, count, memoryMb, user] = task.log().trim().split(' ');
    expect([words, tone, user]).toEqual(['a,b', 'warm', 'nobody']);
    expect(Number(count)).toBeLessThan(15);
    expect(Number(memoryMb)).toBeLessThanOrEqual(64);
  });

  test('keeps to the task’s memory by itself, and gets the signal to end', async () => {
    const task = await run({ jar_path: 'local/hello.jar' });
    await eventually(() => expect(task.log()).toContain('ready\n'));
    expect(Number(task.log().split(' ')[3])).toBeLessThan(150);
    await task.stop('SIGINT', 20_000);
    expect(await task.exited).toMatchObject({ exitCode: 130 });
    expect(task.log()).toContain('bye\n');
  });
});

test.each([
  ['nothing to run', {}, ['Config.jar_path or Config.class is required']],
  [
    'two things to run',
    { jar_path: 'a', class: 'B' },
    ['Config.jar_path and Config.class cannot both be given'],
  ],
  [
    'all wrong',
    { class: 3, jvm_options: '-X', command: 'x' },
    [
      'Config.class must be a text that is not empty',
      'Config.jvm_options must be a list of texts',
      expect.stringMatching(/^Config.command is not known here; known are jar_path, class/),
    ],
  ],
])('%s has these faults', (_name, config, messages) => {
  const faults = driverNamed('java').validate(config);
  expect(faults.map(({ message }) => message)).toEqual(messages);
});

test.each([
  [{ jar_path: 'a.jar', args: ['x'] }, ['-jar', '/a.jar', 'x']],
  [{ jar_path: '/b/a.jar', jvm_options: ['-Xmx1m'] }, ['-Xmx1m', '-jar', '/b/a.jar']],
  [{ class: 'A', class_path: 'lib/*::/c' }, ['-cp', '/lib/*::/c', 'A']],
])('%j is %j', (config, args) => {
  expect(javaArguments(config)).toEqual(args);
});

test('a runtime that prints other lines first is understood', () => {
  const said = 'Picked up JAVA_TOOL_OPTIONS: -Xmx1m\nopenjdk version "21" 2023\nRuntime\nVM\n';
  expect(javaAttributes(said)).toEqual({ version: '21', runtime: 'Runtime', vm: 'VM' });
});
