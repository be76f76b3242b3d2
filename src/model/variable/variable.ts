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
  Namespace: About('Where it lives.', Text()),
  Path: About('What it is called: words with slashes between them.', Text()),
  CreateTime: About('When it was made, in Unix nanoseconds.', ResponseOnly(Instant())),
  ModifyTime: About('When it was last written, in Unix nanoseconds.', ResponseOnly(Instant())),
  ...stamps,
};

/** What of a variable a list shows, and a conflict: nothing that is secret. */
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
 * The items of a variable as they are kept. They are rows of their own, so that sealing them anew
 * under another key is no change of the variable.
 */
export interface SealedItems {
  readonly Namespace: string;
  readonly Path: string;
  /** The JSON of the items, sealed by the keyring. */
  readonly Sealed: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
