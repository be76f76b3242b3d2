import type { Source } from '../hcl/source.ts';
import { suggestion } from '../hcl/suggest.ts';
import { fieldWord } from '../words/field-words.ts';
import { syntaxError } from './errors.ts';
import type { Command, Operand, Pipeline } from './syntax.ts';
import type { Token } from './tokens.ts';

export interface PipelineOptions {
  readonly functions: { has(name: string): boolean; keys(): Iterable<string> };
  readonly nestingMax: number;
  /** Called for faults after which reading continues. */
  readonly onFault: (sentence: string, offset: number) => void;
}

/** Reads the content of actions, and knows the variables at each place. */
export class PipelineParser {
  readonly #source: Source;
  readonly #tokens: readonly Token[];
  readonly #options: PipelineOptions;
  #at = 0;
  #depth = 0;
  #variables: readonly string[] = ['$'];

  constructor(source: Source, tokens: readonly Token[], options: PipelineOptions) {
    this.#source = source;
    this.#tokens = tokens;
    this.#options = options;
  }

  get next(): Token {
    return this.#tokens[this.#at]!;
  }

  take(): Token {
    const token = this.next;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** Variables that are declared within `parse` end with it. */
  scoped<T>(parse: () => T): T {
    const variables = this.#variables;
    try {
      return parse();
    } finally {
      this.#variables = variables;
    }
  }

  /** `scoped`, without the variables that are declared outside. */
  apart<T>(parse: () => T): T {
    return this.scoped(() => {
      this.#variables = ['$'];
      return parse();
    });
  }

  /** Reads a pipeline up to the end of the action. `of`: the name of the action for messages. */
  pipeline({ of }: { readonly of: string }): Pipeline {
    const { offset } = this.next;
    const { names, declares, isGiven } = this.#receivers(of);
    if (!declares) for (const name of names) this.#requireVariable(name, offset);
    const commands = this.#commands(of);
    if (declares) this.#variables = [...this.#variables, ...names];
    return { variables: isGiven ? names : [], declares, commands, offset };
  }

  /** Reads `$a :=`, `$a =`, and in a range `$i, $a :=`. */
  #receivers(of: string) {
    const none = { names: [], declares: false, isGiven: false } as const;
    const [first, second, third, fourth] = this.#tokens.slice(this.#at, this.#at + 4);
    if (first?.kind !== 'variable' || !setsVariables.has(of)) return none;
    if (isAssignment(second)) {
      this.#at += 2;
      return { names: [first.text], declares: second.text === ':=', isGiven: true } as const;
    }
    const isPair = of === 'range' && isMark(second, ',') && third?.kind === 'variable';
    if (isPair && isAssignment(fourth)) {
      this.#at += 4;
      const declares = fourth.text === ':=';
      return { names: [first.text, third.text], declares, isGiven: true } as const;
    }
    return none;
  }

  #commands(of: string): readonly Command[] {
    const commands: Command[] = [];
    for (;;) {
      const command = this.#command(of);
      const [first] = command.operands;
      if (commands.length > 0 && (first!.kind === 'literal' || first!.kind === 'nil')) {
        throw this.#error('A function has to stand behind "|"', first!.offset);
      }
      commands.push(command);
      if (!isMark(this.next, '|')) return commands;
      this.take();
    }
  }

  #command(of: string): Command {
    const { offset } = this.next;
    const operands: Operand[] = [];
    for (;;) {
      const token = this.next;
      const isEnd = token.kind === 'close' || isMark(token, '|') || isMark(token, ')');
      if (isEnd && operands.length > 0) return { operands, offset };
      if (isEnd) throw this.#error(missing[of] ?? `"${of}" needs a value`, token.offset);
      if (operands.length > 0 && !token.spaced) {
        throw this.#error('There has to be space in front of this', token.offset);
      }
      operands.push(this.#operand());
    }
  }

  #operand(): Operand {
    const of = this.#term();
    const names: string[] = [];
    while (this.next.kind === 'field' && !this.next.spaced) names.push(this.take().text);
    if (names.length === 0) return of;
    if (of.kind === 'literal' || of.kind === 'nil') {
      throw this.#error('A literal has no fields', this.#tokens[this.#at - names.length]!.offset);
    }
    return of.kind === 'fields'
      ? { ...of, names: [...of.names, ...names] }
      : { kind: 'fields', of, names, offset: of.offset };
  }

  #term(): Operand {
    const token = this.take();
    const { offset } = token;
    switch (token.kind) {
      case 'literal':
        return { kind: 'literal', value: token.value ?? null, offset };
      case 'dot':
        return { kind: 'dot', offset };
      case 'field':
        return { kind: 'fields', of: { kind: 'dot', offset }, names: [token.text], offset };
      case 'variable':
        this.#requireVariable(token.text, offset);
        return { kind: 'variable', name: token.text, offset };
      case 'word':
        return this.#word(token);
      case 'mark':
        if (token.text === '(') return this.#parentheses(offset);
    }
    const shown = token.kind === 'mark' ? `"${token.text}"` : 'This';
    throw this.#error(`${shown} cannot stand here`, offset);
  }

  #word({ text, offset }: Token): Operand {
    if (text === 'true' || text === 'false') {
      return { kind: 'literal', value: text === 'true', offset };
    }
    if (text === 'nil') return { kind: 'nil', offset };
    if (keywords.has(text)) throw this.#error(`"${text}" may only begin an action`, offset);
    const { functions, onFault } = this.#options;
    if (!functions.has(text)) {
      const like = fieldWord('function', text) || suggestion(text, [...functions.keys()]);
      onFault(`There is no function "${text.slice(0, 64)}"${like}`, offset);
    }
    return { kind: 'function', name: text, offset };
  }

  #parentheses(offset: number): Operand {
    const { nestingMax } = this.#options;
    if (this.#depth >= nestingMax) {
      throw this.#error(`Parentheses are nested more than ${nestingMax} deep`, offset);
    }
    this.#depth++;
    const pipeline = this.pipeline({ of: '(' });
    this.#depth--;
    const token = this.take();
    if (!isMark(token, ')')) throw this.#error('This parenthesis is not closed', offset);
    return { kind: 'pipeline', pipeline, offset };
  }

  #requireVariable(name: string, offset: number): void {
    if (this.#variables.includes(name)) return;
    const like = suggestion(name, this.#variables.slice(1));
    this.#options.onFault(`There is no variable "${name.slice(0, 64)}"${like}`, offset);
  }

  #error(sentence: string, offset: number) {
    return syntaxError(this.#source, sentence, offset);
  }
}

const missing: Readonly<Record<string, string>> = {
  action: 'There is nothing in this action',
  '(': 'There is nothing in these parentheses',
};

const setsVariables = new Set(['action', 'if', 'with', 'range']);

const keywords = new Set([
  'if',
  'else',
  'end',
  'range',
  'with',
  'define',
  'template',
  'block',
  'break',
  'continue',
]);

const isMark = (token: Token | undefined, text: string): boolean =>
  token?.kind === 'mark' && token.text === text;

const isAssignment = (token: Token | undefined): token is Token =>
  isMark(token, ':=') || isMark(token, '=');
