import {
  About,
  type Input,
  Instant,
  type Model,
  ResponseOnly,
  SecretTextMap,
  stamps,
  Text,
  Type,
} from '../schema.ts';

const metadata = {
  Namespace: About('Namespace of the variable.', Text()),
  Path: About('The path: words with slashes between them.', Text()),
  CreateTime: About('The time of its creation, in Unix nanoseconds.', ResponseOnly(Instant())),
  ModifyTime: About('The time of its last write, in Unix nanoseconds.', ResponseOnly(Instant())),
  ...stamps,
};

/** The parts of a variable that are not secret, for lists and conflicts. */
export const VariableMetadataSchema = Type.Object(metadata, { title: 'VariableMetadata' });
export interface VariableMetadata extends Model<typeof VariableMetadataSchema> {}

/** Names and secret texts under a path. Source: docs/guides/variables.md#a-task-reads-it. */
export const VariableSchema = Type.Object(
  {
    ...metadata,
    Items: About('Names and texts. They are kept encrypted.', SecretTextMap(), {
      rules: 'at least one, and together at most 64 KiB',
    }),
  },
  { title: 'Variable' },
);
export type Variable = Omit<Model<typeof VariableSchema>, 'Items'> & {
  readonly Items: Readonly<Record<string, string>>;
};
export type VariableRequest = Input<Model<typeof VariableSchema>>;

/**
 * The stored items of a variable. They have their own rows, so that sealing them again under another key is
 * not a change of the variable.
 */
export interface SealedItems {
  readonly Namespace: string;
  readonly Path: string;
  /** The JSON of the items, sealed by the keyring. */
  readonly Sealed: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
