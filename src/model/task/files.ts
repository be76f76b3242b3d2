import { limits } from '../limits.ts';
import {
  About,
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

const inside = "stays inside the task's directory";

/** The sources of artifacts; an operator may allow fewer. */
export const artifactSources = ['http', 'https', 'git', 'file'] as const;
export type ArtifactSource = (typeof artifactSources)[number];

/** A file that is fetched before a task starts. Source: docs/behaviour/job-specification.md#artifacts. */
export const ArtifactSchema = Type.Object(
  {
    GetterSource: About('The URL of the artifact.', Text(), { rules: 'required' }),
    GetterOptions: About(
      'Options of the download; `checksum` is `md5:`, `sha1:`, `sha256:` or `sha512:` and hex digits.',
      TextMap(),
    ),
    GetterHeaders: About('Headers of the request.', TextMap()),
    GetterMode: About(
      'Whether it is a file, a directory (archives are unpacked), or either.',
      Choice(['any', 'file', 'dir'], 'any'),
    ),
    GetterInsecure: About('Whether certificates are not verified.', Flag()),
    RelativeDest: About("The destination below the task's directory.", Text(), {
      absent: '`local/`; with the mode `file`: `local/` and the name of the file',
      rules: inside,
    }),
    Chown: About("Whether the task's user becomes its owner.", Flag()),
  },
  { title: 'Artifact' },
);
export type Artifact = Model<typeof ArtifactSchema>;

const ChangeScriptSchema = Type.Object(
  {
    Command: About('The program.', Text(), { rules: 'required' }),
    Args: About('Its arguments.', List(Type.String())),
    Timeout: About(
      'The time after which the program is ended.',
      Nanoseconds({ default: 5e9, minimum: 0 }),
    ),
    FailOnError: About('Whether a failure of the program ends the task.', Flag()),
    RunOnFirstRender: About('Whether it also runs at the first rendering.', Flag()),
  },
  { title: 'ChangeScript' },
);

/** A user or group of the system; -1: not changed. */
const owner = () => Nullable(Whole({ minimum: -1, maximum: limits.task.ownerIdMax }));

/** A file that is rendered for a task. Source: docs/behaviour/job-specification.md#templates. */
export const TemplateSchema = Type.Object(
  {
    SourcePath: About("The template file in the task's directory.", Text(), {
      rules: 'this or `EmbeddedTmpl` is required',
    }),
    DestPath: About('The path of the rendered file.', Text(), {
      rules: `required; unique in the task; ${inside}`,
    }),
    EmbeddedTmpl: About('The text of the template.', Text()),
    ChangeMode: About(
      'The action when the file changes.',
      Choice(['noop', 'restart', 'signal', 'script'], 'restart'),
      { rules: 'not `signal` together with `Envvars`' },
    ),
    ChangeSignal: About('The signal of the mode `signal`.', Text(), {
      absent: '`SIGHUP` with the mode `signal`',
    }),
    ChangeScript: About('The program of the mode `script`.', Nullable(ChangeScriptSchema), {
      rules: 'required with the mode `script`',
    }),
    Splay: About(
      'The maximum of the random wait before the task is told.',
      Nanoseconds({ default: 5e9, minimum: 0 }),
    ),
    Perms: About('Permissions of the file.', Text({ default: '0644' }), {
      rules: 'octal digits, at most 7777',
    }),
    Uid: About('Owner of the file; -1 or null: not changed.', owner()),
    Gid: About('Group of the file; -1 or null: not changed.', owner()),
    LeftDelim: About('The left delimiter of actions in the template.', Text({ default: '{{' })),
    RightDelim: About('The right delimiter of actions in the template.', Text({ default: '}}' })),
    Envvars: About(
      'Whether the file, with lines of `NAME=value`, sets the environment of the task.',
      Flag(),
    ),
    ErrMissingKey: About('Whether a missing key is an error, instead of `<no value>`.', Flag()),
    Once: About('Whether the template is rendered only once.', Flag()),
    Wait: About(
      'The wait for further changes before rendering.',
      Nullable(
        Type.Object(
          {
            Min: About('At least.', Nanoseconds({ minimum: 0 }), { rules: 'at most `Max`' }),
            Max: About('At most.', Nanoseconds({ minimum: 0 })),
          },
          { title: 'Wait' },
        ),
      ),
    ),
    SecretsGrace: About('Deprecated setting of the secrets engine.', Nanoseconds({ minimum: 0 })),
  },
  { title: 'Template' },
);
export type Template = Model<typeof TemplateSchema>;

export const LogConfigSchema = Type.Object(
  {
    Disabled: About('Whether no logs are kept.', Flag()),
    MaxFiles: About(
      'Number of files that are kept of each of the two outputs.',
      Whole({ default: 10, minimum: 1, maximum: limits.task.logFilesMax }),
    ),
    MaxFileSizeMB: About(
      'Maximum size of a file.',
      Whole({ default: 10, minimum: 1, maximum: limits.task.logFileMbMax }),
      { rules: "times `MaxFiles` less than the group's `EphemeralDisk.SizeMB`" },
    ),
  },
  { title: 'LogConfig' },
);
export type LogConfig = Model<typeof LogConfigSchema>;

/** Source: docs/behaviour/job-specification.md#volume-mounts. */
export const VolumeMountSchema = Type.Object(
  {
    Volume: About('The volume.', Text(), { rules: 'a volume of the group' }),
    Destination: About("The path in the task: absolute, or relative to the task's root.", Text(), {
      rules: "required; not over the task's own directories, below `/alloc`, or in another volume",
    }),
    ReadOnly: About('Whether the task cannot write to it.', Flag()),
    PropagationMode: About(
      'How mounts below it are shared with the node.',
      Choice(['private', 'host-to-task', 'bidirectional'], 'private'),
    ),
    SELinuxLabel: About(
      'Whether it is labelled for all containers or for this container.',
      Choice(['', 'z', 'Z']),
    ),
  },
  { title: 'VolumeMount' },
);
export type VolumeMount = Model<typeof VolumeMountSchema>;
