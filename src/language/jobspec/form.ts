/**
 * What may stand in a block of a job file, as tables: the HCL name, the kind of its value, and the
 * field of the API's job that it sets. One line is one attribute, so that a new field is a new line.
 * The reference in docs/reference/job-file.md is made of the same tables.
 */
export type ScalarKind = 'text' | 'whole' | 'flag' | 'duration' | 'texts';

/** `name = value` */
export interface AttributeForm {
  readonly kind: ScalarKind;
  readonly field: string;
  /** One sentence for the reference. */
  readonly about: string;
}

/** `name { key = value }`, and `name = { key = value }` just as well. */
export interface MapForm {
  /** `free`: anything, with blocks as lists of maps. */
  readonly kind: 'text-map' | 'texts-map' | 'free-map';
  readonly field: string;
  readonly about: string;
}

/** `name "label" { … }` */
export interface BlockForm {
  readonly kind: 'block';
  readonly field: string;
  /** One record, a list of them, or a map of them by their label. */
  readonly many: 'one' | 'list' | 'by-label';
  readonly label: LabelForm | undefined;
  readonly body: BodyForm;
  readonly about: string;
}

export interface LabelForm {
  /** The field that the label is. */
  readonly field: string;
  readonly about: string;
  readonly isOptional: boolean;
}

export type Form = AttributeForm | MapForm | BlockForm;

/** A record on its way into the job. */
export type Fields = Record<string, unknown>;

export interface BodyForm {
  readonly forms: ReadonlyMap<string, Form>;
  readonly finish: Finish | undefined;
}

/** Fields that HCL says shorter than the job does. */
export interface Finish {
  /** Makes the record out of what was read; complains with a sentence. */
  readonly run: (fields: Fields, complain: (sentence: string) => void) => Fields;
  /** Which fields of the job the fields of the table end in, where these are other ones. */
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
/** At most one of them. */
export const block = blocks('one');
/** Any number of them. */
export const list = blocks('list');
/** Any number of them, each with its own label. */
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
