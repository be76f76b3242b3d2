import { About, Choice, Flag, List, type Model, Nullable, Text, Type } from '../schema.ts';

/** A volume that a group asks for. Source: docs/behaviour/job-specification.md#volumes. */
export const VolumeRequestSchema = Type.Object(
  {
    Name: About('Repeats the name that the group knows it by.', Text(), { absent: 'its key' }),
    Type: About(
      'A directory that nodes offer, or a volume of a storage plugin. No node has storage plugins yet: ' +
        'a group that asks for one waits, and is told so.',
      Choice(['', 'host', 'csi']),
      {
        rules: 'required',
      },
    ),
    Source: About('Names the volume that is asked for.', Text(), { rules: 'required' }),
    ReadOnly: About(
      'Nothing may be written to it, so that nodes will do that offer it read-only.',
      Flag(),
      {
        rules: 'true with an access mode of readers only',
      },
    ),
    Sticky: About('Keep an allocation with the volume that it once had.', Flag()),
    AccessMode: About(
      'Who may use it at the same time: `single-node-reader-only`, `single-node-writer`; for `host` ' +
        'also `single-node-single-writer`, `single-node-multi-writer`; for `csi` also ' +
        '`multi-node-reader-only`, `multi-node-single-writer`, `multi-node-multi-writer`.',
      Text(),
      { rules: 'required for `csi`; modes for one node or one writer need a `Count` of at most 1' },
    ),
    AttachmentMode: About('How it is seen.', Choice(['', 'file-system', 'block-device']), {
      rules: 'required for `csi`',
    }),
    MountOptions: About(
      'How it is mounted.',
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
      'A volume of its own for each allocation: the index of the allocation follows `Source`, as in ' +
        '`data[0]`. A node for a group with such host volumes offers those of all its allocations.',
      Flag(),
      { rules: 'not in system and sysbatch jobs, not with canaries, not with `Sticky`' },
    ),
  },
  { title: 'Volume' },
);
export type VolumeRequest = Model<typeof VolumeRequestSchema>;
