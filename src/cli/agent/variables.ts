/** The environment variables of `roster agent`: one for each flag, and two for settings that have no flag. */
import type { CliEnvironment } from '../environment.ts';
import { nearest } from '../nearest.ts';
import { flags, switchWords } from './flags.ts';
import type { AgentSettings, SettingName } from './settings.ts';

const prefix = 'ROSTER_AGENT_';

/** Variables that are older than the others. */
const ownNames: ReadonlyMap<string, string> = new Map([['root-token', 'ROSTER_ROOT_TOKEN']]);

/** The variable of a flag. */
export const variableOf = (flag: string): string =>
  ownNames.get(flag) ?? `${prefix}${flag.toUpperCase().replaceAll('-', '_')}`;

/** A flag would show the root key to all users of the machine; the collector has its usual name. */
const withoutFlag: ReadonlyMap<SettingName, string> = new Map([
  ['keyring.root_key', 'ROSTER_ROOT_KEY'],
  ['telemetry.otlp.endpoint', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
]);

const known = [...flags.map(({ name }) => variableOf(name)), ...withoutFlag.values()];

/** The variable of a setting; `undefined`: it has none. */
export function variableOfSetting(setting: SettingName): string | undefined {
  const own = withoutFlag.get(setting);
  if (own !== undefined) return own;
  const flag = flags.find((candidate) => candidate.setting === setting);
  return flag && variableOf(flag.name);
}

export interface FromVariables {
  readonly settings: AgentSettings;
  /** The configuration files and directories. */
  readonly paths: readonly string[];
  readonly faults: readonly string[];
}

/** Reads the variables. An empty variable counts as absent; lists are separated by commas. */
export function settingsOfVariables(env: CliEnvironment['env']): FromVariables {
  const settings: Record<string, unknown> = {};
  const paths = env[variableOf('config')] || undefined;
  for (const { name, setting, value, isList, isRepeatable, isSwitch } of flags) {
    const given = env[variableOf(name)];
    if (setting === undefined || !given) continue;
    const isWord = value === undefined || isSwitch;
    if (isWord) settings[setting] = switchWords.get(given) ?? given;
    else settings[setting] = isList || isRepeatable ? given.split(',') : given;
  }
  for (const [setting, variable] of withoutFlag) {
    if (env[variable]) settings[setting] = env[variable];
  }
  return { settings, paths: paths?.split(',') ?? [], faults: unknownVariables(env) };
}

function unknownVariables(env: CliEnvironment['env']): string[] {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !known.includes(name),
  );
  return unknown.sort().map((name) => {
    const meant = nearest(name, known);
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
    return `${name} is not a variable of the agent${guess}`;
  });
}
