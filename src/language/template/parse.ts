import { Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import type { TemplateLimits } from './budget.ts';
import { syntaxError, TemplateError, type TemplateFault } from './errors.ts';
import { templateLimits } from './limits.ts';
import { PipelineParser } from './parse-pipeline.ts';
import type { Template, TemplateBody, TemplateNode } from './syntax.ts';
import { type Delimiters, type Token, tokenize } from './tokens.ts';

export interface ParseOptions {
  readonly limits: TemplateLimits;
  /** The functions that templates may call. */
  readonly functions: { has(name: string): boolean; keys(): Iterable<string> };
  /** The delimiters of actions. Empty delimiters mean `{{` and `}}`. */
  readonly leftDelimiter?: string;
  readonly rightDelimiter?: string;
  /** The name of the text in errors. */
  readonly fileName?: string;
}

/** @throws TemplateError of kind `syntax`, with every unknown name at once */
export function parseTemplate(text: string, options: ParseOptions): Template {
  const source = new Source(text, options.fileName);
  if (text.length > options.limits.textLengthMax) {
    const sentence = `The template is longer than ${options.limits.textLengthMax} characters`;
    throw syntaxError(source, sentence, 0);
  }
  const delimiters = {
    left: options.leftDelimiter || '{{',
    right: options.rightDelimiter || '}}',
  };
  return new TemplateParser(source, delimiters, options).parse();
}

/** The end of a list of nodes. */
type Ending = { readonly kind: 'end' | 'file' | 'else'; readonly token: Token };

class TemplateParser {
  readonly #source: Source;
  readonly #delimiters: Delimiters;
  readonly #faults: TemplateFault[] = [];
  readonly #pipelines: PipelineParser;
  readonly #named = new Map<string, TemplateBody>();
  readonly #called: { readonly name: string; readonly offset: number }[] = [];
  readonly #nestingMax: number;
  #depth = 0;
  #loops = 0;

  constructor(source: Source, delimiters: Delimiters, options: ParseOptions) {
    this.#source = source;
    this.#delimiters = delimiters;
    this.#nestingMax = options.limits.nestingMax;
    this.#pipelines = new PipelineParser(source, tokenize(source, delimiters), {
      functions: options.functions,
      nestingMax: options.limits.nestingMax,
      onFault: (sentence, offset) => this.#faults.push(source.fault(sentence, offset)),
    });
  }

  parse(): Template {
    const { nodes, ending } = this.#nodes();
    if (ending.kind !== 'file') {
      const word = ending.kind;
      throw this.#error(`There is no block that this "${word}" belongs to`, ending.token.offset);
    }
    for (const { name, offset } of this.#called) {
      if (this.#named.has(name)) continue;
      const like = suggestion(name, [...this.#named.keys()]);
      const sentence = `There is no template ${JSON.stringify(name.slice(0, 64))}${like}`;
      this.#faults.push(this.#source.fault(sentence, offset));
    }
    if (this.#faults.length > 0) {
      throw new TemplateError('syntax', this.#faults.slice(0, templateLimits.faultsMax));
    }
    return { source: this.#source, body: nodes, named: this.#named };
  }

  #nodes(): { readonly nodes: TemplateNode[]; readonly ending: Ending } {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const token = this.#pipelines.take();
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text });
        continue;
      }
      if (token.kind === 'end') return { nodes, ending: { kind: 'file', token } };
      const first = this.#pipelines.next;
      const keyword = first.kind === 'word' ? first.text : '';
      if (keyword === 'end' || keyword === 'else') {
        this.#pipelines.take();
        if (keyword === 'end') this.#close();
        return { nodes, ending: { kind: keyword, token: first } };
      }
      const node = this.#action(keyword, first);
      if (node !== undefined) nodes.push(node);
    }
  }

  #action(keyword: string, first: Token): TemplateNode | undefined {
    switch (keyword) {
      case 'if':
      case 'with':
      case 'range':
        this.#pipelines.take();
        return this.#block(keyword, first);
      case 'define':
        this.#pipelines.take();
        this.#define(first);
        return undefined;
      case 'block':
      case 'template':
        this.#pipelines.take();
        return this.#parseCall(keyword, first);
      case 'break':
      case 'continue':
        this.#pipelines.take();
        if (this.#loops === 0) {
          throw this.#error(`"${keyword}" may only stand in "range"`, first.offset);
        }
        this.#close();
        return { kind: keyword };
      default: {
        const pipeline = this.#pipelines.pipeline({ of: 'action' });
        this.#close();
        return { kind: 'action', pipeline };
      }
    }
  }

  #block(kind: 'if' | 'with' | 'range', start: Token): TemplateNode {
    return this.#deeper(start, () =>
      this.#pipelines.scoped(() => {
        const pipeline = this.#pipelines.pipeline({ of: kind });
        this.#close();
        if (kind === 'range') this.#loops++;
        const { nodes, ending } = this.#pipelines.scoped(() => this.#nodes());
        if (kind === 'range') this.#loops--;
        const otherwise = this.#parseElse(kind, start, ending);
        return { kind, pipeline, body: nodes, otherwise };
      }),
    );
  }

  /** Reads the branch after `else`, up to `end`. */
  #parseElse(kind: string, start: Token, ending: Ending): TemplateBody {
    if (ending.kind === 'end') return [];
    if (ending.kind === 'file') throw this.#unended(kind, start);
    const { next } = this.#pipelines;
    if (next.kind === 'word' && next.text === kind && kind !== 'range') {
      this.#pipelines.take();
      return [this.#block(kind as 'if' | 'with', next)];
    }
    this.#close();
    const rest = this.#pipelines.scoped(() => this.#nodes());
    if (rest.ending.kind === 'file') throw this.#unended(kind, start);
    if (rest.ending.kind === 'end') return rest.nodes;
    throw this.#error(`This "${kind}" has an "else" already`, rest.ending.token.offset);
  }

  #define(start: Token): void {
    if (this.#depth > 0) throw this.#error('"define" may not stand in a block', start.offset);
    const name = this.#name(start);
    this.#close();
    this.#body(name, 'define', start);
  }

  #parseCall(kind: 'block' | 'template', start: Token): TemplateNode {
    const name = this.#name(start);
    const { next } = this.#pipelines;
    const pipeline =
      next.kind === 'close' && kind === 'template'
        ? undefined
        : this.#pipelines.pipeline({ of: kind });
    this.#close();
    if (kind === 'block') this.#body(name, kind, start);
    else this.#called.push({ name, offset: start.offset });
    return { kind: 'template', name, pipeline, offset: start.offset };
  }

  /** Reads the body of a named template, which does not see the variables around it. */
  #body(name: string, kind: string, start: Token): void {
    const loops = this.#loops;
    this.#loops = 0;
    const { nodes, ending } = this.#deeper(start, () => this.#pipelines.apart(() => this.#nodes()));
    this.#loops = loops;
    if (ending.kind === 'file') throw this.#unended(kind, start);
    if (ending.kind === 'else') {
      throw this.#error(`"${kind}" has no "else"`, ending.token.offset);
    }
    const isTaken = hasContent(this.#named.get(name) ?? []);
    if (isTaken && hasContent(nodes)) {
      const sentence = `There is a template ${JSON.stringify(name.slice(0, 64))} already`;
      this.#faults.push(this.#source.fault(sentence, start.offset));
    }
    if (!isTaken) this.#named.set(name, nodes);
  }

  #name(start: Token): string {
    const token = this.#pipelines.take();
    if (typeof token.value === 'string') return token.value;
    throw this.#error(`"${start.text}" needs the name of a template, in quotes`, token.offset);
  }

  #close(): void {
    const token = this.#pipelines.take();
    if (token.kind === 'close') return;
    throw this.#error(`"${this.#delimiters.right}" has to stand here`, token.offset);
  }

  #deeper<T>(at: Token, parse: () => T): T {
    if (this.#depth >= this.#nestingMax) {
      throw this.#error(`Blocks are nested more than ${this.#nestingMax} deep`, at.offset);
    }
    this.#depth++;
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }

  #unended(kind: string, { offset }: Token): TemplateError {
    return this.#error(`This "${kind}" has no "end"`, offset);
  }

  /** The error, with the faults that were found before it. */
  #error(sentence: string, offset: number): TemplateError {
    const faults = [...this.#faults, this.#source.fault(sentence, offset)];
    return new TemplateError('syntax', faults.slice(-templateLimits.faultsMax));
  }
}

/** Whether the body has more than space. */
const hasContent = (body: TemplateBody): boolean =>
  body.some((node) => node.kind !== 'text' || node.text.trim() !== '');
