import { readdir, realpath } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import type { Fault } from '../../model/errors.ts';
import { type ConfigFields, configFaults, text, textList } from './config.ts';
import { type Driver, DriverFailure, type DriverFingerprint } from './driver.ts';
import {
  type IsolationPorts,
  isolatedMethods,
  isolationFields,
  isolationFingerprint,
  toolsOf,
} from './exec.ts';
import { isolate } from './isolation/isolate.ts';
import { withNames } from './isolation/names.ts';
import { findProgram, run } from './isolation/tools.ts';
import { type HostView, hostPath } from './isolation/view.ts';
import { startProcess } from './process.ts';

export interface JavaConfig {
  readonly jar_path?: string;
  readonly class?: string;
  readonly class_path?: string;
  readonly jvm_options?: readonly string[];
  readonly args?: readonly string[];
}

interface Java {
  /** The directory of the runtime and its libraries. */
  readonly home: string;
  /** Directories of the system to which links in the runtime's directory lead. */
  readonly settings: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

/** Runs Java programs in the same sandboxes as `exec`. */
export function javaDriver(ports: IsolationPorts): Driver {
  const fields: ConfigFields = {
    jar_path: { check: text },
    class: { check: text },
    class_path: { check: text },
    jvm_options: { check: textList },
    args: { check: textList },
    ...isolationFields(ports.allowances),
  };
  let found: Promise<Java | string> | undefined;
  const java = () => {
    found ??= findJava(ports.path);
    return found;
  };
  return {
    name: 'java',
    fingerprint: async () => fingerprint(await java(), isolationFingerprint(await ports.tools())),
    validate: (config) => [...configFaults(config, fields), ...programFaults(config)],
    start: async (task) => {
      const runtime = await java();
      if (typeof runtime === 'string') throw new DriverFailure(runtime, false);
      const tools = toolsOf(await ports.tools());
      const view = withNames(withRuntime(tools.view, runtime), task);
      const args = javaArguments(task.config as JavaConfig);
      const command = { command: `${runtime.home}/bin/java`, args };
      const request = await isolate(task, command, { ...tools, view });
      return startProcess(ports.supervisor, request);
    },
    ...isolatedMethods(ports),
  };
}

function programFaults(config: Readonly<Record<string, unknown>>): readonly Fault[] {
  const named = ['jar_path', 'class'].filter((name) => (config[name] ?? undefined) !== undefined);
  if (named.length === 1) return [];
  const message =
    named.length === 0
      ? 'Config.jar_path or Config.class is required'
      : 'Config.jar_path and Config.class cannot both be given';
  return [{ pointer: `/${named[0] ?? 'jar_path'}`, message }];
}

/** Relative paths begin at the task's root, whatever its `work_dir` is. */
export function javaArguments(config: JavaConfig): readonly string[] {
  const {
    jar_path: jar,
    class: main = '',
    class_path: classPath,
    jvm_options: options = [],
  } = config;
  const absolute = (path: string): string => (path === '' ? '' : posix.resolve('/', path));
  const path = classPath?.split(':').map(absolute).join(':');
  return [
    ...options,
    ...(path === undefined ? [] : ['-cp', path]),
    ...(jar === undefined ? [main] : ['-jar', absolute(jar)]),
    ...(config.args ?? []),
  ];
}

/** A runtime outside the usual directories is mounted at the host's path. */
function withRuntime(view: HostView, { home, settings }: Java): HostView {
  const missing = [home, ...settings].filter(
    (path) => hostPath(view, undefined, path) === undefined,
  );
  return { ...view, ...Object.fromEntries(missing.map((path) => [path, path])) };
}

async function findJava(path: string): Promise<Java | string> {
  const program = await findProgram('java', path);
  if (program === undefined) {
    return 'there is no Java here: install a Java runtime that has the program java';
  }
  const { ok, text: said } = await run(program, ['-version']);
  if (!ok) return `${program} does not run (${said.trim().split('\n').at(-1)}): install it anew`;
  const home = dirname(dirname(await realpath(program)));
  const names = await readdir('/etc').catch(() => []);
  const settings = names.filter((name) => /^java(-|$)/.test(name)).map((name) => `/etc/${name}`);
  return { home, settings, attributes: javaAttributes(said) };
}

/** From the output of `java -version`: version, runtime and virtual machine, a line each. */
export function javaAttributes(said: string): Record<string, string> {
  const lines = said.split('\n').map((line) => line.trim());
  const first = lines.findIndex((line) => / version "/.test(line));
  const [head = '', runtime = '', vm = ''] = lines.slice(first);
  return { version: /version "([^"]*)"/.exec(head)?.[1] ?? '', runtime, vm };
}

function fingerprint(java: Java | string, isolation: DriverFingerprint): DriverFingerprint {
  if (typeof java === 'string') {
    return { detected: false, healthy: false, description: java, attributes: {} };
  }
  if (!isolation.detected) return isolation;
  return { ...isolation, attributes: { ...isolation.attributes, ...java.attributes } };
}
