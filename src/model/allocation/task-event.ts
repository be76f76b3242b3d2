import { complete } from '../complete.ts';
import type { Input } from '../schema.ts';
import { type TaskEvent, TaskEventSchema, type TaskState, TaskStateSchema } from './task-state.ts';

/** An event with the given fields; `time` is Unix nanoseconds. */
export const taskEvent = (type: string, time: number, fields: Input<TaskEvent> = {}): TaskEvent =>
  complete(TaskEventSchema, { ...fields, Type: type, Time: time });

/** A task that has not started. */
export const pendingTask: TaskState = complete(TaskStateSchema, {});
