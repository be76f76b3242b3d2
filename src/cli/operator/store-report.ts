import type { OptionDefinition } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { createScreen } from '../render/screen.ts';
import { oneLine, plural } from '../render/text.ts';
import type { ExaminationStep, StoreReport } from './engines.ts';

export const examinationSentences: Readonly<Record<ExaminationStep, string>> = {
  structure: 'Checking the structure of the files',
  read: 'Reading the state as an agent does',
  rows: 'Checking every row',
  search: 'Searching for all that is legible',
};

type Row = StoreReport['lostRows'][number];
type Piece = StoreReport['lostPieces'][number];

/** Prints the faults of a store, and row by row what is lost. */
export async function printReport(
  { stdout }: Pick<CliEnvironment, 'stdout'>,
  { faults: ofStore, faultyRows, lostRows, lostPieces }: StoreReport,
): Promise<void> {
  const faults = [...ofStore, ...faultyRows];
  const screen = createScreen(stdout, false);
  await screen.line(faults.length === 0 ? 'No fault.' : `${plural(faults.length, 'fault')}:`);
  for (const { at, fault } of faults) await screen.line(`  ${oneLine(at)}: ${oneLine(fault)}`);
  if (lostPieces.length > 0) {
    await screen.title('Lost with all rows in it');
    for (const piece of lostPieces) await screen.line(`  ${oneLine(piece.at)}${indexesOf(piece)}`);
  }
  if (lostRows.length === 0) return;
  await screen.title(plural(lostRows.length, 'lost row'));
  await screen.table(
    ['Table', 'Key', 'Index', 'Change'],
    lostRows.map((row) => [row.table, keyOf(row), String(row.index ?? '-'), changeOf(row)]),
  );
}

/** The report as JSON has it. */
export const reportJson = ({
  directory,
  index,
  rows,
  faults,
  faultyRows,
  lostRows,
  lostPieces,
}: StoreReport) => ({
  Directory: directory,
  Index: index,
  Rows: rows,
  Faults: [...faults, ...faultyRows].map(({ at, fault }) => ({ At: at, Fault: fault })),
  LostRows: lostRows.map(({ table, key, index, change, isCertain }) => ({
    Table: table,
    Key: key.map((part) => part ?? null),
    Index: index ?? null,
    Change: change,
    Certain: isCertain,
  })),
  LostPieces: lostPieces.map(({ at, fromIndex, toIndex }) => ({
    At: at,
    FromIndex: fromIndex ?? null,
    ToIndex: toIndex ?? null,
  })),
});

export const lossesDetails = `A lost row shows the index of the change that is lost: a row that was written is missing, or is as it was
before, and a row that was deleted is back. Where the bytes of a piece are damaged, the names that could still be made out
of them are marked "perhaps".`;

function indexesOf({ fromIndex, toIndex }: Piece): string {
  if (fromIndex === undefined) return toIndex === undefined ? '' : ` (up to index ${toIndex})`;
  return toIndex === undefined
    ? ` (from index ${fromIndex} on)`
    : ` (index ${fromIndex} to ${toIndex})`;
}

const keyOf = ({ key }: Row): string => key.map((part) => oneLine(part ?? '?')).join('/') || '?';

const changeOf = ({ change, isCertain }: Row): string =>
  isCertain ? change : `${change}, perhaps`;

export const repairOptions: readonly OptionDefinition[] = [
  { name: 'yes', description: 'Repair even if rows are lost.' },
  {
    name: 'without-root-key',
    description: 'The root key is lost: give up every secret that it seals, and all tokens.',
  },
];
