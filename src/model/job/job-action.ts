import { FullList, type Model, Text, Type } from '../schema.ts';
import type { Job } from './job.ts';

/** A command of a job that may be run inside a task. Source: docs/contract/jobs.md#records-of-a-job. */
export const JobActionSchema = Type.Object({
  Name: Text(),
  Command: Text(),
  Args: FullList(Type.String()),
  TaskGroupName: Text(),
  TaskName: Text(),
});
export interface JobAction extends Model<typeof JobActionSchema> {}

/** The actions of all tasks, in the order of the job. */
export const jobActions = ({ TaskGroups }: Job): readonly JobAction[] =>
  TaskGroups.flatMap((group) =>
    group.Tasks.flatMap((task) =>
      (task.Actions ?? []).map(({ Name, Command, Args }) => ({
        Name,
        Command,
        Args: Args ?? [],
        TaskGroupName: group.Name,
        TaskName: task.Name,
      })),
    ),
  );
