import { complete } from '../complete.ts';
import type { Input } from '../schema.ts';
import { type TaskEvent, TaskEventSchema, type TaskState, TaskStateSchema } from './task-state.ts';

/** An event with the fields that matter; `time` is Unix nanoseconds. */
export const taskEvent = (type: string, time: number, fields: Input<TaskEvent> = {}): TaskEvent =>
  complete(TaskEventSchema, { ...fields, Type: type, Time: time });

/** A task that was not started. */
export const pendingTask: TaskState = complete(TaskStateSchema, {});
