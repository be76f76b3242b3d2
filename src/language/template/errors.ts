import type { HclFault } from '../hcl/errors.ts';
import type { Source } from '../hcl/source.ts';

/** A fault of a template, with its place. */
export type TemplateFault = HclFault;

/**
 * `syntax`: the text is no template. `evaluation`: it cannot be rendered with this data. `limit`: it met a
 * bound.
 */
export type TemplateErrorKind = 'syntax' | 'evaluation' | 'limit';

/** The faults of a template. This folder throws no other errors. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly kind: TemplateErrorKind;
  /** At least one fault, in the order of the text. `renderFault` shows a fault with its line and a caret. */
  readonly faults: readonly TemplateFault[];

  constructor(kind: TemplateErrorKind, faults: readonly TemplateFault[]) {
    const ordered = [...faults].sort((left, right) => left.offset - right.offset);
    const { sentence, line, column } = ordered[0]!;
    const more = ordered.length > 1 ? ` and ${ordered.length - 1} more` : '';
    super(`${sentence} (line ${line}, column ${column})${more}`);
    this.kind = kind;
    this.faults = ordered;
  }
}

export const syntaxError = (source: Source, sentence: string, offset: number): TemplateError =>
  new TemplateError('syntax', [source.fault(sentence, offset)]);
