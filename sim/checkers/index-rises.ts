import type { Checker } from './checker.ts';

/** Each commit has a greater index than the commit before, also over restarts, and stamps its rows with it. */
export const indexOnlyRises = (): Checker => {
  let last = 0;
  return {
    guarantee: 'the index only rises',
    committed(changes, index, _scene, fault) {
      if (index <= last) fault(`index ${index} was committed after ${last}`);
      for (const { table, after } of changes) {
        if (after === undefined || (after.ModifyIndex > last && after.ModifyIndex <= index))
          continue;
        fault(`a row of ${table} was committed at ${index} with index ${after.ModifyIndex}`);
      }
      last = index;
    },
    restored(_changes, index, _scene, fault) {
      if (index <= last) fault(`a restore has index ${index} after ${last}`);
      last = index;
    },
    restarted({ view }, fault) {
      if (view.index < last) fault(`the server restarted with index ${view.index} after ${last}`);
      last = view.index;
    },
  };
};
