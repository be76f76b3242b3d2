/** What pages tell of a peering, from the facts of the server alone. */
import type { Peering, StreamStatus } from '../../../../src/model/peering/peering.ts';

export const importedOf = ({ ImportedServices }: StreamStatus): readonly string[] =>
  ImportedServices ?? [];

export const exportedOf = ({ ExportedServices }: StreamStatus): readonly string[] =>
  ExportedServices;

/** The word of `Status kind="peering"`. */
export const stateOf = ({ State, DeletedAt }: Peering): string =>
  DeletedAt === null ? State : 'DELETING';

/** Troubled ones first when the list is sorted by it. */
export const urgencyOf = (peering: Peering): number =>
  ['FAILING', 'DELETING', 'TERMINATED', 'ESTABLISHING', 'INITIAL', 'ACTIVE'].indexOf(
    stateOf(peering),
  );
