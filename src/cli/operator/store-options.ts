import { flagOf, flags, settingsOf } from '../agent/agent.ts';
import { parseConfiguration } from '../agent/configuration.ts';
import { engineFaults, engineSettings, etcdOf } from '../agent/engine-settings.ts';
import { type AgentSettings, type SettingName, settingFault } from '../agent/settings.ts';
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

/** Reads them from flags and the configuration of the agent. @throws CliError with every fault */
export async function readStoreOptions(
  { readFile }: Pick<CliEnvironment, 'readFile'>,
  options: Options,
): Promise<StoreOptions> {
  const configuration = await parseConfiguration(readFile, options.text('config'));
  const all: AgentSettings = { ...configuration.settings, ...settingsOf(options) };
  const given: AgentSettings = {
    ...Object.fromEntries(used.map((name) => [name, all[name]])),
    engine: 'etcd',
  };
  const faults = [
    ...configuration.faults,
    ...used.flatMap((name) => settingFault(name, given[name], flagOf(name))),
    ...engineFaults(given, flagOf),
  ];
  if (given.data_dir === undefined) faults.push('--data-dir is missing: name the data directory');
  if (faults.length > 0) {
    const hint = 'Give the configuration of the agent with --config, or the same flags.';
    throw new CliError('The stores of the agent are not known:', { faults, hint });
  }
  return { dataDirectory: given.data_dir as string, etcd: etcdOf(given)! };
}
