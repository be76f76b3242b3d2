import type { CliEnvironment } from '../environment.ts';
import { explainError } from '../errors.ts';
import { camelCase, type Options } from '../options.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import type { ConfiguredAgent, ReadAgent } from './configured-agent.ts';
import { flagOf, flags, switchWords } from './flags.ts';
import { type AgentOptions, agentOptions } from './options.ts';
import { type AgentSettings, type SettingName, settingFaults } from './settings.ts';
import { settingsOfVariables, variableOfSetting } from './variables.ts';

type Source = ConfiguredAgent['source'];

/**
 * Where an agent has its settings from: flags, then variables, then configuration files. Flags and variables are
 * those of the process, and the files may be read again.
 */
export class AgentSource implements Source {
  readonly #environment: CliEnvironment;
  readonly #flags: AgentSettings;
  readonly #variables: ReturnType<typeof settingsOfVariables>;
  readonly #paths: readonly string[];

  constructor(environment: CliEnvironment, options: Options) {
    this.#environment = environment;
    this.#flags = settingsOf(options);
    // Read once, since secrets are removed from the environment.
    this.#variables = settingsOfVariables(environment.env);
    const paths = options.list('config');
    this.#paths = paths.length > 0 ? paths : this.#variables.paths;
  }

  get hasFiles(): boolean {
    return this.#paths.length > 0;
  }

  async read(): Promise<ReadAgent & { readonly faults: readonly string[] }> {
    const configuration = await readConfiguration(this.#environment, this.#paths);
    const given = { ...configuration.settings, ...this.#variables.settings, ...this.#flags };
    const faults = [
      ...this.#variables.faults,
      ...configuration.faults.map(({ message }) => message),
      ...settingFaults(given, (setting) => this.#nameOf(setting, configuration), {
        checked: new Set(configuration.faults.map(({ setting }) => setting)),
        isPart: configuration.faults.some(({ setting }) => setting === undefined),
      }),
    ];
    const run = await readJobs(this.#environment, given.run, (fault) => faults.push(fault));
    // Options can only be made of valid settings.
    const options = agentOptions(faults.length === 0 ? given : {}, run);
    return { settings: given, options, faults };
  }

  #nameOf(setting: SettingName, { nameOf }: Configuration): string {
    if (Object.hasOwn(this.#flags, setting)) return flagOf(setting);
    if (Object.hasOwn(this.#variables.settings, setting)) return variableOfSetting(setting)!;
    return nameOf(setting) ?? flagOf(setting);
  }
}

/** The settings of given flags. */
export function settingsOf(options: Options): AgentSettings {
  const given: Record<string, unknown> = {};
  for (const { name, setting, value, isRepeatable, isList, isSwitch } of flags) {
    if (setting === undefined) continue;
    const key = camelCase(name);
    if (value === undefined) {
      if (options.flag(key)) given[setting] = true;
    } else if (isRepeatable) {
      if (options.list(key).length > 0) given[setting] = options.list(key);
    } else {
      const text = options.text(key);
      if (text === undefined) continue;
      given[setting] = isSwitch ? (switchWords.get(text) ?? text) : isList ? text.split(',') : text;
    }
  }
  return given;
}

/** Reads the jobs of the setting `run`. */
export async function readJobs(
  environment: CliEnvironment,
  paths: unknown,
  note: (fault: string) => void,
): Promise<AgentOptions['run']> {
  const run = [];
  for (const path of Array.isArray(paths) ? (paths as unknown[]) : []) {
    if (typeof path !== 'string' || path === '') continue;
    const { readJobFile } = await import('../job-file.ts');
    try {
      run.push({ path, registration: await readJobFile(environment, path) });
    } catch (error) {
      const explained = explainError(error);
      if (explained === undefined) throw error;
      note(`--run: ${explained.message.replace(/\.$/, '')}`);
    }
  }
  return run;
}
