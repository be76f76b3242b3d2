import { readConfiguration } from '../agent/configuration.ts';
import { engineFaults, engineSettings, etcdOf } from '../agent/engine-settings.ts';
import { flagOf, flags } from '../agent/flags.ts';
import { type AgentSettings, type SettingName, settingFault } from '../agent/settings.ts';
import { settingsOf } from '../agent/source.ts';
import type { OptionDefinition } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError } from '../errors.ts';
import type { Options } from '../options.ts';
import type { StoreOptions } from './engines.ts';

const names = (Object.keys(engineSettings) as SettingName[]).filter((name) =>
  name.startsWith('etcd.'),
);
const used: readonly SettingName[] = ['data_dir', ...names];

/** The options of the commands: the flags of the agent for the place of its state. */
export const storeOptions: readonly OptionDefinition[] = flags
  .filter(({ name, setting }) => name === 'config' || used.some((one) => one === setting))
  .map(({ setting: _, isList: __, ...option }) => option);

/** The options of commands on the embedded store alone. */
export const embeddedOptions: readonly OptionDefinition[] = storeOptions.filter(
  ({ name }) => name === 'config' || name === 'data-dir',
);

/** The data directory of flags or of the configuration of the agent. @throws CliError with every fault */
export async function readDataDirectory(
  environment: Pick<CliEnvironment, 'readFile' | 'listDirectory'>,
  options: Options,
): Promise<string> {
  const { settings, faults } = await readConfiguration(environment, options.list('config'));
  const { data_dir: given } = { ...settings, ...settingsOf(options) };
  const all = faults.map(({ message }) => message);
  if (faults.every(({ setting }) => setting !== 'data_dir')) {
    all.push(...settingFault('data_dir', given, flagOf('data_dir')));
  }
  if (given === undefined) all.push('--data-dir is missing: name the data directory');
  if (all.length > 0) throw new CliError('The store of the agent is not known:', { faults: all });
  return given as string;
}

/** Reads them from flags and the configuration of the agent. @throws CliError with every fault */
export async function readStoreOptions(
  environment: Pick<CliEnvironment, 'readFile' | 'listDirectory'>,
  options: Options,
): Promise<StoreOptions> {
  const configuration = await readConfiguration(environment, options.list('config'));
  const all: AgentSettings = { ...configuration.settings, ...settingsOf(options) };
  const given: AgentSettings = {
    ...Object.fromEntries(used.map((name) => [name, all[name]])),
    engine: 'etcd',
  };
  const told = new Set(configuration.faults.map(({ setting }) => setting));
  const unchecked = used.filter((name) => !told.has(name));
  const faults = [
    ...configuration.faults.map(({ message }) => message),
    ...unchecked.flatMap((name) => settingFault(name, given[name], flagOf(name))),
    ...engineFaults(given, flagOf),
  ];
  if (given.data_dir === undefined) faults.push('--data-dir is missing: name the data directory');
  if (faults.length > 0) {
    const hint = 'Give the configuration of the agent with --config, or the same flags.';
    throw new CliError('The stores of the agent are not known:', { faults, hint });
  }
  return { dataDirectory: given.data_dir as string, etcd: etcdOf(given)! };
}
