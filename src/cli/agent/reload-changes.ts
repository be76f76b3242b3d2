/** Which settings a running agent takes without a restart. */
import { isDeepStrictEqual } from 'node:util';
import { type AgentSettings, type SettingName, settings } from './settings.ts';

const tlsFiles: readonly SettingName[] = ['tls.cert_file', 'tls.key_file', 'tls.ca_file'];

const reloadable: readonly SettingName[] = [
  'log_level',
  'ui.label',
  'ui.color',
  ...tlsFiles,
  'ca_cert',
  'client_cert',
  'client_key',
  'node.class',
  'node.meta',
  'node.disable_remote_exec',
  'drivers.allow',
];

export const isReloadable = (setting: SettingName): boolean => reloadable.includes(setting);

export interface SettingChanges {
  /** Settings that the agent takes now. */
  readonly changed: readonly SettingName[];
  /** Settings that only a restart changes. */
  readonly needRestart: readonly SettingName[];
  /** The settings of the agent from then on. A setting that needs a restart has its old value. */
  readonly settings: AgentSettings;
}

/** Compares the settings of a running agent with those that were read. */
export function changesOf(running: AgentSettings, read: AgentSettings): SettingChanges {
  const different = (Object.keys(settings) as SettingName[]).filter(
    (name) => !isDeepStrictEqual(running[name], read[name]),
  );
  const isTaken = (name: SettingName): boolean => {
    // An open port cannot begin to speak TLS, or cease to.
    const isSwitch = running[name] === undefined || read[name] === undefined;
    return isReloadable(name) && !(isSwitch && tlsFiles.includes(name));
  };
  const needRestart = different.filter((name) => !isTaken(name));
  const old = Object.fromEntries(needRestart.map((name) => [name, running[name]]));
  return { changed: different.filter(isTaken), needRestart, settings: { ...read, ...old } };
}
