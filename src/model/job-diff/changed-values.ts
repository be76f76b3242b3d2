import type { FieldDiff, JobDiff, ObjectDiff, TaskDiff } from './job-diff.ts';

export interface ChangedValue {
  /** `TaskGroups[web].Tasks[server].Config.command` */
  readonly path: string;
  /** `''` if there was no value. */
  readonly old: string;
  readonly next: string;
}

/** The difference as a flat list of all changed values. */
export function changedValues({ Fields, Objects, TaskGroups }: JobDiff): ChangedValue[] {
  return [
    ...valuesAt('', Fields, Objects),
    ...(TaskGroups ?? []).flatMap(({ Name, Tasks, ...group }) => {
      const place = `TaskGroups[${Name}]`;
      return [
        ...valuesAt(`${place}.`, group.Fields, group.Objects),
        ...(Tasks ?? []).flatMap((task: TaskDiff) =>
          valuesAt(`${place}.Tasks[${task.Name}].`, task.Fields, task.Objects),
        ),
      ];
    }),
  ];
}

function valuesAt(
  place: string,
  fields: readonly FieldDiff[] | null,
  objects: readonly ObjectDiff[] | null,
): ChangedValue[] {
  return [
    ...(fields ?? [])
      .filter(({ Type }) => Type !== 'None')
      .map(({ Name, Old: old, New: next }) => ({ path: `${place}${Name}`, old, next })),
    ...(objects ?? []).flatMap(({ Name, Fields, Objects }) =>
      valuesAt(`${place}${Name}.`, Fields, Objects),
    ),
  ];
}
