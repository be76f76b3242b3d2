/** The name of a span in W3C Trace Context. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface SpanBegin {
  readonly name: string;
  /** `server`: the answer to a request. */
  readonly kind: 'server' | 'internal';
  /** Absent: a new trace begins. */
  readonly parent?: SpanContext | undefined;
  readonly startMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

export interface Span {
  readonly context: SpanContext;
  end(endMs: number, outcome?: { readonly isError: boolean }): void;
}

/** The port to a collector of traces. */
export interface Tracer {
  begin(span: SpanBegin): Span;
}
