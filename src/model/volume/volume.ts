import { About, Choice, Flag, List, type Model, Nullable, Text, Type } from '../schema.ts';

/** A volume that a group asks for. Source: docs/behaviour/job-specification.md#volumes. */
export const VolumeRequestSchema = Type.Object(
  {
    Name: About('Repeats the name of the volume in the group.', Text(), { absent: 'its key' }),
    Type: About(
      'A directory that nodes offer, or a volume of a storage plugin. No node has storage plugins yet: ' +
        'a group with a volume of such a plugin waits, and its submitter is warned.',
      Choice(['', 'host', 'csi']),
      {
        rules: 'required',
      },
    ),
    Source: About('The name of the volume on the node.', Text(), { rules: 'required' }),
    ReadOnly: About(
      'Whether tasks only read it. Such a group also fits nodes that offer the volume read-only.',
      Flag(),
      {
        rules: 'true with an access mode of readers only',
      },
    ),
    Sticky: About('Whether an allocation stays with its first volume.', Flag()),
    AccessMode: About(
      'The simultaneous use: `single-node-reader-only`, `single-node-writer`; for `host` ' +
        'also `single-node-single-writer`, `single-node-multi-writer`; for `csi` also ' +
        '`multi-node-reader-only`, `multi-node-single-writer`, `multi-node-multi-writer`.',
      Text(),
      { rules: 'required for `csi`; modes for one node or one writer need a `Count` of at most 1' },
    ),
    AttachmentMode: About(
      'How the volume is attached.',
      Choice(['', 'file-system', 'block-device']),
      {
        rules: 'required for `csi`',
      },
    ),
    MountOptions: About(
      'How the volume is mounted.',
      Nullable(
        Type.Object(
          {
            FSType: About('Type of the file system.', Text()),
            MountFlags: About('Flags of the mount.', List(Type.String())),
          },
          { title: 'MountOptions' },
        ),
      ),
      { rules: '`csi` only' },
    ),
    PerAlloc: About(
      'Whether each allocation has its own volume: the index of the allocation follows `Source`, as in ' +
        '`data[0]`. A node for such a group must offer the host volumes of all its allocations.',
      Flag(),
      { rules: 'not in system and sysbatch jobs, not with canaries, not with `Sticky`' },
    ),
  },
  { title: 'Volume' },
);
export type VolumeRequest = Model<typeof VolumeRequestSchema>;
