/**
 * Styles of libraries under the content security policy of the interface, which forbids `<style>` elements and `style`
 * attributes that are not its own files. Code may make style sheets and set properties of elements, so this file lets both
 * forms do that. xterm.js has no other way: it makes elements with the document of the page, whatever its option
 * `documentOverride` says.
 */

let isUsed = false;

/** Call it before a terminal is opened or an editor made. It changes nothing for other elements. */
export function useStrictStyles(): void {
  if (isUsed) return;
  isUsed = true;
  const createElement = document.createElement.bind(document) as Document['createElement'];
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === 'style' ? styleStandIn(createElement) : createElement(name, options)) as never;
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function setAsProperty(name, value) {
    if (name === 'style' && 'style' in this) (this as HTMLElement).style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

/** An element without a meaning of its own, whose text is a style sheet of the document until it is removed. */
function styleStandIn(createElement: Document['createElement']): HTMLElement {
  const element = createElement('template');
  const sheet = new CSSStyleSheet();
  let text = '';
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (rules: string | null) => {
      text = rules ?? '';
      sheet.replaceSync(text);
    },
  });
  const { remove } = element;
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    remove.call(element);
  };
  return element;
}
