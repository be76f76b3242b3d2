/** The setting `node.host_volume`: an object in the file, flags of the form `NAME=PATH[:ro]`. */
import { limits } from '../../model/limits.ts';
import {
  type HostVolumes,
  hostVolumeNameFault,
  hostVolumePathFault,
} from '../../model/volume/host-volume.ts';

const form = 'must be by name { "path": "/absolute", "read_only": false }';

/** Says what the setting must be, with all faults; `undefined` if it is valid. */
export function hostVolumeFault(value: unknown): string | undefined {
  const volumes = written(value);
  if (volumes === undefined) {
    return Array.isArray(value) ? 'must be NAME=PATH or NAME=PATH:ro, each name once' : form;
  }
  const { hostVolumesMax } = limits.node;
  const names = Object.keys(volumes);
  if (names.length > hostVolumesMax) return `must be at most ${hostVolumesMax} volumes`;
  const faults = Object.entries(volumes).flatMap(([name, volume]) => faultsOf(name, volume));
  return faults.length === 0 ? undefined : `${form}: ${faults.join('; ')}`;
}

function faultsOf(name: string, volume: unknown): readonly string[] {
  const fault = hostVolumeNameFault(name);
  const faults = fault === undefined ? [] : [`the name ${JSON.stringify(name)} ${fault}`];
  if (!isObject(volume)) return [...faults, `${name} must be an object`];
  const { path, read_only: readOnly, ...others } = volume;
  const misplaced = hostVolumePathFault(path);
  if (misplaced !== undefined) faults.push(`${name}.path ${misplaced}`);
  if (readOnly !== undefined && typeof readOnly !== 'boolean') {
    faults.push(`${name}.read_only must be true or false`);
  }
  return [...faults, ...Object.keys(others).map((key) => `${name}.${key} is not a setting`)];
}

/** The volumes of a valid setting. */
export function hostVolumesOf(value: unknown): HostVolumes {
  const volumes = Object.entries(written(value) ?? {}) as [string, Written][];
  return Object.fromEntries(
    volumes.map(([name, { path, read_only: readOnly = false }]) => [
      name,
      { Path: path, ReadOnly: readOnly },
    ]),
  );
}

interface Written {
  readonly path: string;
  readonly read_only?: boolean;
}

/** The setting in the form of the file; `undefined` if it has neither form. */
function written(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (isObject(value)) return value;
  if (!Array.isArray(value)) return undefined;
  const found = new Map<string, Written>();
  for (const word of value) {
    const [, name, path, mode] = /^([^=]+)=(.+?)(:ro)?$/.exec(String(word)) ?? [];
    if (name === undefined || path === undefined || found.has(name)) return undefined;
    found.set(name, { path, read_only: mode !== undefined });
  }
  return Object.fromEntries(found);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
