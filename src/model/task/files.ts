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

/** How artifacts are fetched; an operator may allow fewer. */
export const artifactSources = ['http', 'https', 'git', 'file'] as const;
export type ArtifactSource = (typeof artifactSources)[number];

/** Files that are fetched before a task starts. Source: docs/behaviour/job-specification.md#artifacts. */
export const ArtifactSchema = Type.Object(
  {
    GetterSource: About('Where it comes from, a URL.', Text(), { rules: 'required' }),
    GetterOptions: About(
      'Options of the download; `checksum` is `md5:`, `sha1:`, `sha256:` or `sha512:` and hex digits.',
      TextMap(),
    ),
    GetterHeaders: About('Headers of the request.', TextMap()),
    GetterMode: About(
      'Whether it is a file, a directory (unpacked if it is an archive), or whichever it turns out to be.',
      Choice(['any', 'file', 'dir'], 'any'),
    ),
    GetterInsecure: About('Do not verify certificates.', Flag()),
    RelativeDest: About("Where it goes, below the task's directory.", Text(), {
      absent: '`local/`; with the mode `file`: `local/` and its name',
      rules: inside,
    }),
    Chown: About("Give it to the task's user.", Flag()),
  },
  { title: 'Artifact' },
);
export type Artifact = Model<typeof ArtifactSchema>;

const ChangeScriptSchema = Type.Object(
  {
    Command: About('The program.', Text(), { rules: 'required' }),
    Args: About('Its arguments.', List(Type.String())),
    Timeout: About('After what time it is ended.', Nanoseconds({ default: 5e9, minimum: 0 })),
    FailOnError: About('End the task when the program fails.', Flag()),
    RunOnFirstRender: About('Run it at the first rendering too.', Flag()),
  },
  { title: 'ChangeScript' },
);

/** A user or group of the system; -1 leaves it as it is. */
const owner = () => Nullable(Whole({ minimum: -1, maximum: limits.task.ownerIdMax }));

/** A file rendered for a task. Source: docs/behaviour/job-specification.md#templates. */
export const TemplateSchema = Type.Object(
  {
    SourcePath: About("The template, a file in the task's directory.", Text(), {
      rules: 'this or `EmbeddedTmpl` is required',
    }),
    DestPath: About('Where the rendered file goes.', Text(), {
      rules: `required; unique in the task; ${inside}`,
    }),
    EmbeddedTmpl: About('The template itself.', Text()),
    ChangeMode: About(
      'What happens to the task when the file changes.',
      Choice(['noop', 'restart', 'signal', 'script'], 'restart'),
      { rules: 'not `signal` together with `Envvars`' },
    ),
    ChangeSignal: About('The signal it gets with the mode `signal`.', Text(), {
      absent: '`SIGHUP` with the mode `signal`',
    }),
    ChangeScript: About('What is run with the mode `script`.', Nullable(ChangeScriptSchema), {
      rules: 'required with the mode `script`',
    }),
    Splay: About(
      'Wait up to so long, at random, before the task is told.',
      Nanoseconds({ default: 5e9, minimum: 0 }),
    ),
    Perms: About('Permissions of the file.', Text({ default: '0644' }), {
      rules: 'octal digits, at most 7777',
    }),
    Uid: About('Owner of the file; -1 or null: as it is.', owner()),
    Gid: About('Group of the file; -1 or null: as it is.', owner()),
    LeftDelim: About('What an action of the template begins with.', Text({ default: '{{' })),
    RightDelim: About('What an action of the template ends with.', Text({ default: '}}' })),
    Envvars: About('Read the file as the environment of the task: lines of `NAME=value`.', Flag()),
    ErrMissingKey: About('Fail where a key is missing, rather than write `<no value>`.', Flag()),
    Once: About('Render once, and watch nothing.', Flag()),
    Wait: About(
      'How long to wait for further changes before rendering.',
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
    SecretsGrace: About('Of the secrets engine.', Nanoseconds({ minimum: 0 })),
  },
  { title: 'Template' },
);
export type Template = Model<typeof TemplateSchema>;

export const LogConfigSchema = Type.Object(
  {
    Disabled: About('Keep no logs.', Flag()),
    MaxFiles: About(
      'Files kept of each of the two outputs.',
      Whole({ default: 10, minimum: 1, maximum: limits.task.logFilesMax }),
    ),
    MaxFileSizeMB: About(
      'How large one of them becomes.',
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
    Volume: About('What is mounted.', Text(), { rules: 'a volume of the group' }),
    Destination: About(
      "Where the task sees it: absolute, or relative to the task's root.",
      Text(),
      {
        rules:
          "required; not over the task's own directories, below `/alloc`, or in another volume",
      },
    ),
    ReadOnly: About('The task may not write to it.', Flag()),
    PropagationMode: About(
      'Whether mounts below it are seen on the other side.',
      Choice(['private', 'host-to-task', 'bidirectional'], 'private'),
    ),
    SELinuxLabel: About('Label it for all containers, or for this one.', Choice(['', 'z', 'Z'])),
  },
  { title: 'VolumeMount' },
);
export type VolumeMount = Model<typeof VolumeMountSchema>;
