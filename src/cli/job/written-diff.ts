import { decode } from '../../model/codec.ts';
import { type Job, JobSchema } from '../../model/job/job.ts';
import { compareJobs } from '../../model/job-diff/compare-jobs.ts';
import type { FieldDiff, JobDiff, ObjectDiff } from '../../model/job-diff/job-diff.ts';

/**
 * The difference for a reader: of a job, a group or a task that is new, only what the file writes,
 * without the defaults of everything else. What changes is told whole, wherever it comes from.
 * `written` is the job as it was sent, and has been accepted.
 */
export function writtenDiff(diff: JobDiff, written: unknown): JobDiff {
  const { value } = decode(JobSchema, written, { checkValues: false });
  // Against no job at all, exactly the fields that it has are new.
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

/** Of several blocks of the same name (constraints, ports), what is written in one counts for all. */
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
