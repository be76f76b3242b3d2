/** A configuration file of the agent, in HCL or JSON: its settings by their dotted names, and its faults. */
import { evaluateConstant, type HclValue } from '../../language/hcl/constant.ts';
import { HclError } from '../../language/hcl/errors.ts';
import { bodyOfObject, parseJson } from '../../language/hcl/json.ts';
import { parseHcl } from '../../language/hcl/parse.ts';
import { type Position, Source } from '../../language/hcl/source.ts';
import type { HclBlock, HclBody, HclItem } from '../../language/hcl/syntax.ts';
import { nearest } from '../nearest.ts';
import { type SettingName, settingFault, settings } from './settings.ts';

export interface ConfigurationFault {
  /** Absent if the fault is that of several settings together, whose places the message names. */
  readonly file?: string;
  /** The place in the file, both 1-based; absent if the file cannot be read. */
  readonly line?: number;
  readonly column?: number;
  /** The dotted name of the setting, if the fault is that of a setting. */
  readonly setting?: string;
  /** A sentence that begins with the place. */
  readonly message: string;
}

export interface PlacedSetting {
  readonly value: unknown;
  /** How faults name the setting: `agent.hcl:3:5: region`, or `agent.json: region`. */
  readonly name: string;
}

export interface FileSettings {
  readonly settings: ReadonlyMap<SettingName, PlacedSetting>;
  readonly faults: readonly ConfigurationFault[];
}

/** Reads the settings of a file and checks each of them. */
export const readFileSettings = (text: string, file: string): FileSettings =>
  new FileReader(text.replace(/^\uFEFF/, ''), file).read();

/** A file with another ending is JSON if it begins like JSON. */
const isJsonFile = (file: string, text: string): boolean =>
  file.endsWith('.json') || (!file.endsWith('.hcl') && /^\s*[{[]/.test(text));

const known = Object.keys(settings) as SettingName[];
const isSetting = (name: string): name is SettingName => Object.hasOwn(settings, name);
const isGroup = (name: string): boolean => known.some((setting) => setting.startsWith(`${name}.`));

interface Found extends PlacedSetting {
  readonly at: Position;
}

class FileReader {
  readonly #file: string;
  readonly #source: Source;
  readonly #isJson: boolean;
  readonly #found = new Map<SettingName, Found>();
  readonly #faults: ConfigurationFault[] = [];

  constructor(text: string, file: string) {
    this.#file = file;
    this.#source = new Source(text);
    this.#isJson = isJsonFile(file, text);
  }

  read(): FileSettings {
    const body = this.#body();
    if (body !== undefined) this.#visit(body, '');
    for (const [setting, { value, name, at }] of this.#found) {
      for (const message of settingFault(setting, value, name)) {
        this.#noteFault({ message, setting }, at);
      }
    }
    return { settings: this.#found, faults: this.#faults };
  }

  #body(): HclBody | undefined {
    const { text } = this.#source;
    try {
      if (!this.#isJson) return parseHcl(text);
      const value = parseJson(text);
      if (value.kind === 'object') return bodyOfObject(value);
      this.#noteFault({ message: `${this.#file} does not hold an object` }, value.range.start);
    } catch (error) {
      this.#noteSyntax(error);
    }
    return undefined;
  }

  #visit(body: HclBody, prefix: string): void {
    for (const item of body.items) {
      const name = `${prefix}${item.kind === 'block' ? item.type : item.name}`;
      const inner = isGroup(name) ? bodyIn(item) : undefined;
      if (inner === undefined) this.#takeSetting(name === 'http.address' ? 'http' : name, item);
      else this.#visit(inner, `${name}.`);
    }
  }

  #takeSetting(name: string, item: HclItem): void {
    const at = item.range.start;
    if (!isSetting(name)) {
      const form = this.#isJson ? 'an object' : 'a block';
      this.#faultOf(name, isGroup(name) ? `must be ${form}` : `is not a setting${meant(name)}`, at);
      return;
    }
    try {
      // Objects of HCL have no prototype, by which they would differ from others.
      const value = structuredClone(valueIn(item, this.#source));
      const before = this.#found.get(name)?.value;
      const repeated = before === undefined ? undefined : repeatedIn(before, value);
      if (repeated !== undefined) this.#faultOf(`${name}${repeated}`, 'is given twice', at);
      const merged = isObject(before) && isObject(value) ? { ...before, ...value } : value;
      this.#found.set(name, { value: merged, name: `${this.#placeOf(at)}${name}`, at });
    } catch (error) {
      this.#noteSyntax(error, name);
    }
  }

  #placeOf({ line, column }: Position): string {
    return this.#isJson ? `${this.#file}: ` : `${this.#file}:${line}:${column}: `;
  }

  #faultOf(setting: string, sentence: string, at: Position): void {
    this.#noteFault({ message: `${this.#placeOf(at)}${setting} ${sentence}`, setting }, at);
  }

  #noteSyntax(error: unknown, setting?: string): void {
    if (!(error instanceof HclError)) throw error;
    for (const { sentence, ...at } of error.faults) {
      const where = `(line ${at.line}, column ${at.column})`;
      const message = this.#isJson
        ? `${this.#file} is not JSON: ${sentence} ${where}`
        : `${this.#placeOf(at)}${sentence}`;
      this.#noteFault({ message, ...(setting !== undefined && { setting }) }, at);
    }
  }

  #noteFault(
    { message, setting }: Pick<ConfigurationFault, 'message' | 'setting'>,
    { line, column }: Position,
  ): void {
    const file = this.#file;
    this.#faults.push({ file, line, column, ...(setting !== undefined && { setting }), message });
  }
}

function meant(name: string): string {
  const near = nearest(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** The settings in a group: those of a block, or of an object. */
function bodyIn(item: HclItem): HclBody | undefined {
  if (item.kind === 'block') return item.labels.length === 0 ? item.body : undefined;
  return item.value.kind === 'object' ? bodyOfObject(item.value) : undefined;
}

/** @throws HclError where a value is no constant */
const valueIn = (item: HclItem, source: Source): HclValue =>
  item.kind === 'attribute' ? evaluateConstant(item.value, source) : blockValue(item, source);

/** A block as an object, in an object for each of its labels. */
function blockValue({ labels, body }: HclBlock, source: Source): HclValue {
  const values = body.items.map((item) => [
    item.kind === 'block' ? item.type : item.name,
    valueIn(item, source),
  ]);
  const inner = Object.fromEntries(values) as HclValue;
  return labels.reduceRight<HclValue>((value, { text }) => ({ [text]: value }), inner);
}

/** The key that both objects have, with a dot before it; `''` where a value is no object. */
function repeatedIn(before: unknown, value: unknown): string | undefined {
  if (!isObject(before) || !isObject(value)) return '';
  const key = Object.keys(value).find((name) => Object.hasOwn(before, name));
  return key === undefined ? undefined : `.${key}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
