/**
 * Tables of the attributes and blocks in each block of a job file: the HCL name, the kind of its value, and
 * the field of the API's job that it sets. Each line is an attribute, so that a new field is a new line. The
 * reference in docs/reference/job-file.md is made from these tables.
 */
export type ScalarKind = 'text' | 'whole' | 'flag' | 'duration' | 'texts';

/** `name = value` */
export interface AttributeForm {
  readonly kind: ScalarKind;
  readonly field: string;
  /** A sentence for the reference. */
  readonly about: string;
}

/** `name { key = value }` or `name = { key = value }`. */
export interface MapForm {
  /** `free-map`: any content, with blocks as lists of maps. */
  readonly kind: 'text-map' | 'texts-map' | 'free-map';
  readonly field: string;
  readonly about: string;
}

/** `name "label" { … }` */
export interface BlockForm {
  readonly kind: 'block';
  readonly field: string;
  /** A record, a list of records, or a map of records by label. */
  readonly many: 'one' | 'list' | 'by-label';
  readonly label: LabelForm | undefined;
  readonly body: BodyForm;
  readonly about: string;
}

export interface LabelForm {
  /** The field that the label sets. */
  readonly field: string;
  readonly about: string;
  readonly isOptional: boolean;
}

export type Form = AttributeForm | MapForm | BlockForm;

/** A record of the job while it is read. */
export type Fields = Record<string, unknown>;

export interface BodyForm {
  readonly forms: ReadonlyMap<string, Form>;
  readonly finish: Finish | undefined;
}

/** Completes fields that have a shorter form in HCL. */
export interface Finish {
  /** Makes the record from the fields that were read. Calls `complain` with a sentence for each fault. */
  readonly run: (fields: Fields, complain: (sentence: string) => void) => Fields;
  /** The fields of the job for each field of the table, if they differ. */
  readonly restates: Readonly<Record<string, readonly string[]>>;
}

export const body = (forms: Readonly<Record<string, Form>>, finish?: Finish): BodyForm => ({
  forms: new Map(Object.entries(forms)),
  finish,
});

const attribute =
  (kind: ScalarKind) =>
  (field: string, about: string): AttributeForm => ({ kind, field, about });
export const text = attribute('text');
export const whole = attribute('whole');
export const flag = attribute('flag');
/** `"30s"`, or nanoseconds. */
export const duration = attribute('duration');
export const texts = attribute('texts');

const map =
  (kind: MapForm['kind']) =>
  (field: string, about: string): MapForm => ({ kind, field, about });
export const textMap = map('text-map');
export const textsMap = map('texts-map');
export const freeMap = map('free-map');

interface BlockOptions {
  readonly label?: LabelForm;
}

const blocks =
  (many: BlockForm['many']) =>
  (field: string, inner: BodyForm, about: string, options: BlockOptions = {}): BlockForm => ({
    kind: 'block',
    field,
    many,
    label: options.label,
    body: inner,
    about,
  });
/** A block that may occur once. */
export const block = blocks('one');
/** Blocks that may occur any number of times. */
export const list = blocks('list');
/** Blocks that may occur any number of times, each with its own label. */
export const byLabel = blocks('by-label');

export const label = (field: string, about: string): LabelForm => ({
  field,
  about,
  isOptional: false,
});
export const optionalLabel = (field: string, about: string): LabelForm => ({
  field,
  about,
  isOptional: true,
});
