import { decode } from '../../model/codec.ts';
import { type Job, JobSchema } from '../../model/job/job.ts';
import { compareJobs } from '../../model/job-diff/compare-jobs.ts';
import type { FieldDiff, JobDiff, ObjectDiff } from '../../model/job-diff/job-diff.ts';

/**
 * The difference for a reader. A new job, group or task only shows the fields of the file,
 * without the defaults of all other fields. Changes are shown completely, including changed defaults.
 * `written` is the job as it was sent and accepted.
 */
export function writtenDiff(diff: JobDiff, written: unknown): JobDiff {
  const { value } = decode(JobSchema, written, { checkValues: false });
  // Compared with an absent job, all its fields are new.
  const own = compareJobs(undefined, value as Job);
  return {
    ...keepWritten(diff, own),
    TaskGroups:
      diff.TaskGroups?.map((group) => {
        const ownGroup = named(own.TaskGroups, group.Name);
        return {
          ...keepWritten(group, ownGroup),
          Tasks: group.Tasks?.map((t) => keepWritten(t, named(ownGroup?.Tasks, t.Name))) ?? null,
        };
      }) ?? null,
  };
}

type Block = Pick<ObjectDiff, 'Type' | 'Fields' | 'Objects'>;
type Blocks = readonly Pick<Block, 'Fields' | 'Objects'>[];

const named = <T extends { readonly Name: string }>(
  all: readonly T[] | null | undefined,
  name: string,
): T | undefined => all?.find(({ Name }) => Name === name);

const keepWritten = <T extends Block>(block: T, own: Block | undefined): T =>
  block.Type === 'Added'
    ? { ...block, ...writtenOf(block, own === undefined ? [] : [own]) }
    : block;

/** For several blocks of the same name (constraints, ports), a field that one block writes counts for all. */
function writtenOf(block: Block, own: Blocks): Pick<Block, 'Fields' | 'Objects'> {
  const names = new Set(own.flatMap(({ Fields }) => (Fields ?? []).filter(isAdded).map(nameOf)));
  const objects = (block.Objects ?? []).flatMap((object) => {
    const same = own.flatMap(({ Objects }) =>
      (Objects ?? []).filter(({ Name }) => Name === object.Name),
    );
    const kept = { ...object, ...writtenOf(object, same) };
    return kept.Fields === null && kept.Objects === null ? [] : [kept];
  });
  return {
    Fields: orNull((block.Fields ?? []).filter((field) => names.has(field.Name))),
    Objects: orNull(objects),
  };
}

const isAdded = ({ Type }: FieldDiff): boolean => Type === 'Added';
const nameOf = ({ Name }: FieldDiff): string => Name;
const orNull = <T>(all: readonly T[]): readonly T[] | null => (all.length === 0 ? null : all);
