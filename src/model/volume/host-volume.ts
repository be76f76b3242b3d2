/** Directories that nodes offer to tasks. Source: docs/behaviour/job-specification.md#volumes. */
import { limits } from '../limits.ts';
import { Flag, type Model, Text, Type } from '../schema.ts';
import type { VolumeRequest } from './volume.ts';

/** A volume of a node, by the name that jobs give as `Source`. */
export const HostVolumeSchema = Type.Object({
  /** An absolute path on the node. */
  Path: Text({ maxLength: limits.node.hostVolumePathLengthMax }),
  /** Whether no task may write to it. */
  ReadOnly: Flag(),
});
export type HostVolume = Model<typeof HostVolumeSchema>;
export type HostVolumes = Readonly<Record<string, HostVolume>>;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}(\[\d{1,6}\])?$/;

/** The reason that a node cannot offer a volume of this name. A number at its end is for `PerAlloc`. */
export const hostVolumeNameFault = (name: string): string | undefined =>
  namePattern.test(name)
    ? undefined
    : 'must be letters, digits, ".", "_" and "-", and may end in a number such as "[0]"';

/** The reason that a volume cannot have this path. */
export const hostVolumePathFault = (path: unknown): string | undefined =>
  typeof path === 'string' &&
  path.startsWith('/') &&
  path.length <= limits.node.hostVolumePathLengthMax &&
  !path.includes('\0')
    ? undefined
    : 'must be an absolute path';

type Asked = Pick<VolumeRequest, 'Source' | 'PerAlloc'>;

/** The source for the allocation with this index. */
export const sourceOf = ({ Source, PerAlloc }: Asked, index: number): string =>
  PerAlloc ? `${Source}[${index}]` : Source;

/** The sources for all allocations of a group together. */
export const sourcesOf = (volume: Asked, count: number): readonly string[] =>
  volume.PerAlloc
    ? Array.from({ length: count }, (_, index) => sourceOf(volume, index))
    : [volume.Source];
