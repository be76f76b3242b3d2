/** The configuration of the agent: files and directories, merged in order. */
import { dirname, join, resolve } from 'node:path';
import type { CliEnvironment } from '../environment.ts';
import type { ConfigurationFault, FileSettings } from './configuration-file.ts';
import type { AgentSettings, SettingName } from './settings.ts';

export type { ConfigurationFault } from './configuration-file.ts';

export interface Configuration {
  readonly settings: AgentSettings;
  readonly faults: readonly ConfigurationFault[];
  /** How faults name the setting, with the file that gave it last; `undefined`: no file gives it. */
  readonly nameOf: (setting: SettingName) => string | undefined;
}

type Files = Pick<CliEnvironment, 'readFile' | 'listDirectory'>;

/** Lists of which later files add to the earlier ones. Other lists are permissions, which a later file may narrow. */
export const addedLists: ReadonlySet<SettingName> = new Set<SettingName>([
  'servers',
  'http.allowed_hosts',
  'etcd.endpoints',
  'peering.advertise',
  'run',
]);

/**
 * Reads the files in the order given, and the files of a directory in the order of their names. All faults are
 * returned. Source: docs/reference/agent-configuration.md#files.
 */
export async function readConfiguration(
  files: Files,
  paths: readonly string[],
): Promise<Configuration> {
  const settings: Partial<Record<SettingName, unknown>> = {};
  const names = new Map<SettingName, string>();
  const faults: ConfigurationFault[] = [];
  for (const path of paths) {
    for (const file of await filesAt(files, path)) {
      const read = await readOne(files, file);
      faults.push(...read.faults);
      for (const [setting, { value, name }] of read.settings) {
        const given = setting === 'run' ? besideFile(value, file) : value;
        settings[setting] = merged(setting, settings[setting], given);
        names.set(setting, name);
      }
    }
  }
  return { settings, faults, nameOf: (setting) => names.get(setting) };
}

/** The path itself, or the files of a directory. Hidden files are those of editors. */
async function filesAt({ listDirectory }: Files, path: string): Promise<readonly string[]> {
  const names = await listDirectory(path);
  if (names === undefined) return [path];
  return names
    .filter((name) => /^[^.].*\.(hcl|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function readOne({ readFile }: Files, file: string): Promise<FileSettings> {
  try {
    const text = await readFile(file);
    const { readFileSettings } = await import('./configuration-file.ts');
    return readFileSettings(text, file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return {
      settings: new Map(),
      faults: [{ file, message: `${file} cannot be read: ${message}` }],
    };
  }
}

function merged(setting: SettingName, before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value) && addedLists.has(setting)) {
    return [...new Set([...before, ...value])];
  }
  return isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

/** Paths of job files are relative to the file that names them. */
function besideFile(value: unknown, file: string): unknown {
  const base = dirname(file);
  if (!Array.isArray(value) || base === '.') return value;
  return value.map((path: unknown) =>
    typeof path === 'string' && path !== '' && path !== '-' ? resolve(base, path) : path,
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
