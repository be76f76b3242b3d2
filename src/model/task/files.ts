import {
  Choice,
  Flag,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';

/** What is fetched before a task starts. Source: facts/scheduler.md §2.6 "Artifact". */
export const ArtifactSchema = Type.Object({
  GetterSource: Text(),
  GetterOptions: TextMap(),
  GetterHeaders: TextMap(),
  GetterMode: Choice(['any', 'file', 'dir'], 'any'),
  GetterInsecure: Flag(),
  RelativeDest: Text(),
  Chown: Flag(),
});
export type Artifact = Model<typeof ArtifactSchema>;

/** A file rendered for a task. Source: facts/scheduler.md §2.6 "Template". */
export const TemplateSchema = Type.Object({
  SourcePath: Text(),
  DestPath: Text(),
  EmbeddedTmpl: Text(),
  ChangeMode: Choice(['noop', 'restart', 'signal', 'script'], 'restart'),
  ChangeSignal: Text(),
  ChangeScript: Nullable(
    Type.Object({
      Command: Text(),
      Args: List(Type.String()),
      Timeout: Nanoseconds({ default: 5e9, minimum: 0 }),
      FailOnError: Flag(),
      RunOnFirstRender: Flag(),
    }),
  ),
  Splay: Nanoseconds({ default: 5e9, minimum: 0 }),
  Perms: Text({ default: '0644' }),
  Uid: Nullable(Type.Integer()),
  Gid: Nullable(Type.Integer()),
  LeftDelim: Text({ default: '{{' }),
  RightDelim: Text({ default: '}}' }),
  Envvars: Flag(),
  ErrMissingKey: Flag(),
  Once: Flag(),
  Wait: Nullable(
    Type.Object({ Min: Nanoseconds({ minimum: 0 }), Max: Nanoseconds({ minimum: 0 }) }),
  ),
});
export type Template = Model<typeof TemplateSchema>;

export const LogConfigSchema = Type.Object({
  Disabled: Flag(),
  MaxFiles: Whole({ default: 10 }),
  MaxFileSizeMB: Whole({ default: 10 }),
});
export type LogConfig = Model<typeof LogConfigSchema>;

/** Source: facts/scheduler.md §2.6 "VolumeMount". */
export const VolumeMountSchema = Type.Object({
  Volume: Text(),
  Destination: Text(),
  ReadOnly: Flag(),
  PropagationMode: Choice(['private', 'host-to-task', 'bidirectional'], 'private'),
  SELinuxLabel: Choice(['', 'z', 'Z']),
});
export type VolumeMount = Model<typeof VolumeMountSchema>;
