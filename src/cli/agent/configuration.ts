import type { CliEnvironment } from '../environment.ts';
import { nearest } from '../nearest.ts';
import { type AgentSettings, type SettingName, settings } from './settings.ts';

interface Configuration {
  readonly settings: AgentSettings;
  readonly faults: readonly string[];
}

const known = Object.keys(settings) as SettingName[];

/** Reads the configuration file, if given. Its faults are returned. */
export async function parseConfiguration(
  readFile: CliEnvironment['readFile'],
  path: string | undefined,
): Promise<Configuration> {
  if (path === undefined) return { settings: {}, faults: [] };
  let parsed: unknown;
  try {
    parsed = JSON.parse((await readFile(path)).replace(/^\uFEFF/, ''));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === undefined ? `is not JSON: ${message}` : `cannot be read: ${message}`;
    return { settings: {}, faults: [`${path} ${reason}`] };
  }
  if (!isObject(parsed)) return { settings: {}, faults: [`${path} does not hold an object`] };
  return flatten(parsed, path);
}

function flatten(parsed: Record<string, unknown>, path: string): Configuration {
  const found: Record<string, unknown> = {};
  const faults: string[] = [];
  const take = (name: string, value: unknown): void => {
    const isGroup = isObject(value) && known.some((setting) => setting.startsWith(`${name}.`));
    if (name === 'http.address') {
      found.http = value;
    } else if (known.includes(name as SettingName) && !isGroup) {
      found[name] = value;
    } else if (isGroup) {
      for (const [key, nested] of Object.entries(value)) take(`${name}.${key}`, nested);
    } else if (known.some((setting) => setting.startsWith(`${name}.`))) {
      faults.push(`${path}: ${name} must be an object`);
    } else {
      const meant = nearest(name, known);
      const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
      faults.push(`${path}: ${name} is not a setting${guess}`);
    }
  };
  for (const [name, value] of Object.entries(parsed)) take(name, value);
  return { settings: found as AgentSettings, faults };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
