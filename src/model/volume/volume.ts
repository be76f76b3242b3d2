import { Choice, Flag, List, type Model, Nullable, Text, Type } from '../schema.ts';

/** A volume that a group asks for. Source: facts/scheduler.md §2.9. */
export const VolumeRequestSchema = Type.Object({
  Name: Text(),
  Type: Choice(['', 'host', 'csi']),
  Source: Text(),
  ReadOnly: Flag(),
  Sticky: Flag(),
  AccessMode: Text(),
  AttachmentMode: Text(),
  MountOptions: Nullable(Type.Object({ FSType: Text(), MountFlags: List(Type.String()) })),
  PerAlloc: Flag(),
});
export type VolumeRequest = Model<typeof VolumeRequestSchema>;
